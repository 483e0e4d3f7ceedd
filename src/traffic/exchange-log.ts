import type { SandboxClock } from '../domain/clock.ts'
import { TRANSFER_STEPS, type TransferStep } from '../domain/transfers.ts'
import { Ends } from './ends.ts'
import { type Forgotten, KeptExchanges } from './kept-exchanges.ts'
import { type Arrival, bounded, LiveExchange, RECORD_BYTES, STEP_BYTES } from './live-exchange.ts'
import { PackedTexts } from './packed-texts.ts'
import type { ExchangeEnd, RecordedExchange, UncountedExchange } from './recorded-exchange.ts'
import type { Redactor } from './redact.ts'
import { RequestCounts } from './request-counts.ts'
import { type ExchangeOutline, outlineOf, type ShowingDeps, showExchange } from './show-exchange.ts'
import { Ordinals, whoAsked } from './who-asked.ts'

/** Limits of a log. */
export interface LogBounds {
  /** Number of exchanges; 0 records nothing. */
  maxExchanges: number
  /** Approximate memory in bytes; 0 records nothing. */
  maxBytes: number
}

/** Dependencies of a log. */
export interface ExchangeLogDeps extends LogBounds, ShowingDeps {
  clock: SandboxClock
  /** Counts every exchange that ends; default: counts of its own. */
  counts?: RequestCounts
}

/** Maximum length of a recorded body, in UTF-16 code units. */
const BODY_LIMIT = 64 * 1024
/** Number of characters of a request's id: `req_` and a ULID. */
const ID_LENGTH = 30
/** Minimum size of a log that reuses records: by then nobody writes to the one that is forgotten. */
const REUSED_AFTER = 1000
/** Share of the bytes that is reserved for forgotten exchanges that a verdict needs: 8 MiB of 64. */
const KEPT_SHARE = 1 / 8

/** Hears of changes to a record. It is called while a request is served, so it only notes them. */
export interface ExchangeWatcher {
  /** The exchange of this number has begun, or something of it has changed. */
  changed(number: number): void
  /** All are forgotten; after a reset, those that were open have new numbers. */
  forgotten(reason: 'reset' | 'deleted'): void
}

/**
 * The newest exchanges of a namespace, bounded in number and bytes. Recording one is cheap: everything else is derived when it is read.
 */
export class ExchangeLog {
  /** True if anything is recorded. */
  readonly on: boolean
  readonly redactor: Redactor
  readonly ends: Ends
  /** Counts that no reset and no deletion of records takes back. */
  readonly counts: RequestCounts
  /** Changes when connections are counted from 1 again. */
  generation = 0
  /** Milliseconds since the Unix epoch of the last request to a chain, which is not recorded; null for none since the last reset. */
  rpcAt: number | null = null
  /** Null while nobody looks. */
  watcher: ExchangeWatcher | null = null
  readonly #deps: ExchangeLogDeps
  /** Recorded times are milliseconds since this one. */
  readonly #base: number
  /** The exchange of number n is at (n − #first) modulo `maxExchanges`. */
  #ring: (LiveExchange | undefined)[] = []
  #first = 1
  #oldest = 1
  #next = 1
  #bytes = 0
  #kept: KeptExchanges
  #forgotten: Forgotten = { room: 0, deleted: 0, reset: 0 }
  #connections = 0
  #ordinals = new Ordinals()
  /** Request ids by place in the ring. */
  readonly #ids = new PackedTexts(ID_LENGTH)
  readonly #texts = new SharedTexts()
  /** The answer recorded last and its bytes: most answers repeat, and need not be measured again. */
  #text: unknown
  #textBytes = 0

  constructor(deps: ExchangeLogDeps) {
    this.#deps = deps
    this.redactor = deps.redactor
    this.counts = deps.counts ?? new RequestCounts()
    this.on = deps.maxExchanges > 0 && deps.maxBytes > 0
    this.#base = deps.clock.wallNow()
    this.ends = new Ends(this.#base.toString(36))
    this.#kept = this.#keptAnew()
  }

  /** Approximate memory of the record, in bytes. */
  get bytes(): number {
    return this.#bytes + this.#kept.bytes
  }

  /** Number of recorded exchanges. */
  get size(): number {
    return this.#next - this.#oldest
  }

  /** True while a client waits for an answer. */
  readonly busy = () => this.#here().some(({ end }) => end === 'open')

  /** Real time at which the newest exchange here began, in milliseconds since the Unix epoch; null for none. */
  get newestAt(): number | null {
    const newest = this.#at(this.#next - 1)
    return newest ? this.#base + newest.began : null
  }

  /** Number of the oldest exchange here, and of the next one to come. */
  get range(): { oldest: number; next: number } {
    return { oldest: this.#oldest, next: this.#next }
  }

  /** Numbers of the exchanges in {@link kept}, oldest first. */
  keptNumbers(): number[] {
    return this.#kept.all().map(({ live }) => live.number)
  }

  /** @returns true if the exchange of that number is here or kept */
  has(number: number): boolean {
    return this.#found(number) !== undefined
  }

  /** Id of the request of that number, here or kept. */
  requestIdOf(number: number): string | undefined {
    return this.#found(number)?.request_id
  }

  /** The facts of exchanges, here or kept, that say to which operation they belong; without decoding them. */
  *outlines(numbers: Iterable<number>): Generator<ExchangeOutline> {
    for (const number of numbers) {
      const live = this.#at(number) ?? this.#kept.get(number)?.live
      if (live) yield outlineOf(live, this.#deps)
    }
  }

  /** The exchanges of these numbers, here or kept, decoded as by {@link newestFirst}, but not counted, which takes longer than the rest. */
  *uncounted(numbers: Iterable<number>): Generator<UncountedExchange> {
    for (const number of numbers) {
      const found = this.#found(number)
      if (!found) continue
      whoAsked(found.live, this.#deps)
      yield this.#showAs(found.live, found.request_id, 1)
    }
  }

  /** Counts of exchanges that were recorded and are neither here nor in {@link kept}. Requests for unknown paths do not count. */
  get forgotten(): Readonly<Forgotten> {
    return { ...this.#forgotten }
  }

  /** Forgotten exchanges that a verdict needs, oldest first; each is decoded on demand. See {@link KeptExchanges}. */
  *kept(): Generator<RecordedExchange> {
    for (const { live, request_id, ordinal } of this.#kept.all()) yield this.#showAs(live, request_id, ordinal)
  }

  /** Every exchange here, oldest first. */
  all(): RecordedExchange[] {
    return [...this.newestFirst()].reverse()
  }

  /** Newest first, starting below the number `before`. Each is decoded on demand; those forgotten by then are left out. */
  newestFirst(before = Number.POSITIVE_INFINITY): Generator<RecordedExchange> {
    return this.numbered(downFrom(Math.min(this.#next, before) - 1, this.#oldest))
  }

  /** The exchanges of these numbers, decoded as by {@link newestFirst}. */
  *numbered(numbers: Iterable<number>): Generator<RecordedExchange> {
    const { generation } = this
    const oldest = this.#oldest
    const ordinals = this.#counted()
    for (const number of numbers) {
      if (this.generation !== generation) return
      const live = this.#at(number)
      if (live) yield this.#show(live, ordinals[number - oldest])
    }
  }

  /** Those here that have ended since so many ends, in the order of their ends, decoded on demand and not counted. */
  *endedSince(ends: number): Generator<{ ends: number; exchange: UncountedExchange }> {
    const due = this.#here().filter(({ endedAs }) => endedAs > ends)
    for (const live of due.sort((a, b) => a.endedAs - b.endedAs)) {
      for (const exchange of this.uncounted([live.number])) yield { ends: live.endedAs, exchange }
    }
  }

  /** The exchange of that request, if it is still here. */
  get(requestId: string): RecordedExchange | undefined {
    const kept = this.#here()
    const at = kept.findLastIndex((live) => this.idOf(live) === requestId)
    const live = kept[at]
    return live && this.#show(live, this.#counted()[at])
  }

  /** @returns true if the exchange has not been forgotten */
  holds(live: LiveExchange): boolean {
    return this.#at(live.number) === live
  }

  /** Id of the exchange's request; empty if the exchange was forgotten. */
  idOf(live: LiveExchange): string {
    return this.holds(live) ? this.#ids.get(this.#place(live.number)) : ''
  }

  /** Forgets everything. Numbers go on, so that none is used twice. */
  clear(): void {
    this.#forgotten.deleted += this.#counting()
    this.#empty()
    this.#first = this.#next
    this.#oldest = this.#next
    this.watcher?.forgotten('deleted')
  }

  /** For a reset: forgets closed exchanges and counts from 1 again. Open ones stay, and end as cut off. */
  beginAnew(): void {
    const { room, deleted, reset } = this.#forgotten
    const over = this.#counting((live) => live.end !== 'open')
    this.#forgotten = { room: 0, deleted: 0, reset: reset + room + deleted + over }
    const open = this.#here().flatMap((live) => (live.end === 'open' ? [{ live, id: this.idOf(live) }] : []))
    this.#empty()
    this.generation++
    this.#connections = 0
    this.rpcAt = null
    this.#first = 1
    this.#oldest = 1
    this.#next = 1
    for (const { live, id } of open) {
      live.cutOff = true
      this.#ids.set(this.#place(this.#next), id)
      live.number = this.#next
      this.#put(live)
    }
    this.watcher?.forgotten('reset')
  }

  /** For a stop: cuts off open exchanges; nobody waits for a further one. */
  cutOff(): void {
    for (const live of this.#here()) if (live.end === 'open') this.end(live, 'cut_off')
    this.ends.stop()
  }

  /** Ordinal of a new connection. */
  nextConnection(): number {
    this.#connections++
    return this.#connections
  }

  /** Records that a request has come in; `arrived` is its time in milliseconds since the Unix epoch, if it was earlier than now. */
  open(arrival: Arrival, arrived?: number): LiveExchange {
    const { clock } = this.#deps
    const wall = arrived ?? clock.wallNow()
    const size = RECORD_BYTES + this.#texts.share(arrival)
    const times = { began: wall - this.#base, ahead: clock.at(wall) - wall, size }
    // New long-lived objects are expensive (V8 copies them twice), so a record that is no longer needed is used again.
    const oldest = this.size >= this.#deps.maxExchanges ? this.#forgetOldest() : undefined
    const live = oldest?.spent && this.size >= REUSED_AFTER ? oldest : new LiveExchange()
    live.begin(this.#next, arrival, times)
    this.#ids.set(this.#place(this.#next), arrival.request_id)
    this.#put(live)
    this.watcher?.changed(live.number)
    return live
  }

  /** Records the body of a request, of a long one the beginning. `whole`: true if all of it has come. A later call overwrites it. */
  takeBody(live: LiveExchange, text: string | null, bytes: number, whole = true): void {
    const before = live.body?.length ?? 0
    // Whoever looked before the body came could not know who asks.
    live.tenant ??= undefined
    live.external_id ??= undefined
    live.body = text === null ? null : bounded(text, BODY_LIMIT)
    live.bodyBytes = bytes
    live.bodyCut = !whole || (live.body?.length ?? 0) < (text?.length ?? 0)
    this.#grow(live, (live.body?.length ?? 0) - before)
  }

  /** Records an answer, or the one that would have been sent. Only the first call counts. */
  takeAnswer(live: LiveExchange, status: number, headers: LiveExchange['answerHeaders'], body: unknown): void {
    if (live.status !== 0) return
    live.status = status
    live.answerHeaders = headers
    live.answer = body
    if (typeof body !== 'string') return
    if (body !== this.#text) {
      this.#text = body
      this.#textBytes = Buffer.byteLength(body)
    }
    live.answerBytes = this.#textBytes
    if (body.length > BODY_LIMIT) {
      live.answer = bounded(body, BODY_LIMIT)
      live.answerCut = true
    }
    this.#grow(live, Math.min(body.length, BODY_LIMIT))
  }

  /** Records a step of the transfer that an exchange carries out, now; `number`: its nonce or its block. */
  takeStep(live: LiveExchange, step: TransferStep, number = -1): void {
    const { clock } = this.#deps
    const wall = clock.wallNow()
    const after = live.end === 'open' ? 0 : 1
    live.steps ??= []
    live.steps.push(TRANSFER_STEPS.indexOf(step), wall - this.#base, clock.at(wall) - wall, number, after)
    this.#grow(live, STEP_BYTES)
    this.watcher?.changed(live.number)
  }

  /** Records how an exchange has ended, now. Only the first call counts. */
  end(live: LiveExchange, end: Exclude<ExchangeEnd, 'open'>): void {
    if (live.end !== 'open') return
    this.endAgain(live, end)
  }

  /** As {@link end}, for an exchange that was taken for answered too early. */
  endAgain(live: LiveExchange, end: Exclude<ExchangeEnd, 'open'>): void {
    const { clock } = this.#deps
    const wall = clock.wallNow()
    live.end = live.cutOff ? 'cut_off' : end
    live.ended = wall - this.#base
    live.endedAhead = clock.at(wall) - wall
    // What was taken for answered too early stays counted so: a counter must not decrease.
    if (live.endedAs === 0) {
      const status = end === 'answered' ? live.status : 0
      this.counts.take(live.operation, status, live.ended - live.began, wall)
    }
    this.ends.take(live)
    this.watcher?.changed(live.number)
  }

  /** Records that the client did not read the answer. */
  takeUnread(live: LiveExchange): void {
    live.unread = true
    this.watcher?.changed(live.number)
  }

  #put(live: LiveExchange): void {
    const { maxBytes } = this.#deps
    this.#ring[this.#place(this.#next)] = live
    this.#next++
    this.#bytes += live.size
    while (this.#bytes > maxBytes && this.size > 1) this.#forgetOldest()
  }

  #grow(live: LiveExchange, bytes: number): void {
    live.size += bytes
    if (!this.holds(live)) return // forgotten meanwhile
    this.#bytes += bytes
    while (this.#bytes > this.#deps.maxBytes && this.size > 1) this.#forgetOldest()
  }

  #forgetOldest(): LiveExchange | undefined {
    const place = this.#place(this.#oldest)
    const live = this.#ring[place]
    this.#ring[place] = undefined
    this.#oldest++
    if (!live) return undefined
    this.#bytes -= live.size
    whoAsked(live, this.#deps)
    const ordinal = this.#ordinals.count(live)
    if (this.#kept.wants(live)) {
      this.#forgotten.room += this.#kept.take({ live, request_id: this.#ids.get(place), ordinal })
      return undefined
    }
    if (live.operation !== null) this.#forgotten.room++
    return live
  }

  #empty(): void {
    this.#ring = []
    this.#bytes = 0
    this.#kept = this.#keptAnew()
    this.#ordinals = new Ordinals()
  }

  #keptAnew(): KeptExchanges {
    return new KeptExchanges(this.#deps.maxBytes * KEPT_SHARE)
  }

  /** Number of exchanges of operations: those here that `counts` accepts, and all kept ones. */
  #counting(counts: (live: LiveExchange) => boolean = () => true): number {
    return this.#here().filter((live) => live.operation !== null && counts(live)).length + this.#kept.size
  }

  /** Ordinals of all exchanges here among those of their operation, tenant and end user, oldest first. */
  #counted(): number[] {
    const ordinals = this.#ordinals.copy()
    return this.#here().map((live) => {
      whoAsked(live, this.#deps)
      return ordinals.count(live)
    })
  }

  #show(live: LiveExchange, ordinal = 1): RecordedExchange {
    return this.#showAs(live, this.idOf(live), ordinal)
  }

  #showAs(live: LiveExchange, request_id: string, ordinal: number): RecordedExchange {
    const showing = { request_id, ordinal, base: this.#base, now: this.#deps.clock.wallNow() }
    return showExchange(live, showing, this.#deps)
  }

  /** Oldest first. */
  #here(): LiveExchange[] {
    const here: LiveExchange[] = []
    for (let number = this.#oldest; number < this.#next; number++) {
      const live = this.#at(number)
      if (live) here.push(live)
    }
    return here
  }

  #found(number: number): { live: LiveExchange; request_id: string } | undefined {
    const live = this.#at(number)
    return live ? { live, request_id: this.idOf(live) } : this.#kept.get(number)
  }

  #at(number: number): LiveExchange | undefined {
    if (number < this.#oldest || number >= this.#next) return undefined
    return this.#ring[this.#place(number)]
  }

  #place(number: number): number {
    return (number - this.#first) % this.#deps.maxExchanges
  }
}

function* downFrom(first: number, last: number): Generator<number> {
  for (let number = first; number >= last; number--) yield number
}

/** Maximum number of request headers that are recorded, each a name and a value; a client sends a dozen. */
const MAX_HEADERS = 100
/** Bytes of each header text beside its characters. */
const TEXT_BYTES = 24

/**
 * Shares equal texts with the previous request, since most requests of a client are alike: new long-lived objects are expensive,
 * comparing is not.
 */
class SharedTexts {
  #headers: readonly string[] = []
  #headersSize = 0
  #url = ''

  /** @returns the bytes that the texts take, as if they were not shared */
  share(arrival: Arrival): number {
    if (arrival.url === this.#url) arrival.url = this.#url
    else this.#url = arrival.url
    if (equal(arrival.headers, this.#headers)) arrival.headers = this.#headers
    else this.#take(arrival)
    return this.#headersSize + arrival.url.length
  }

  #take(arrival: Arrival): void {
    if (arrival.headers.length > 2 * MAX_HEADERS) arrival.headers = arrival.headers.slice(0, 2 * MAX_HEADERS)
    this.#headers = arrival.headers
    this.#headersSize = arrival.headers.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
  }
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
