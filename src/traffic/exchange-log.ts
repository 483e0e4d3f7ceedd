import type { SandboxClock } from '../domain/clock.ts'
import { type Forgotten, KeptExchanges } from './kept-exchanges.ts'
import { type Arrival, bounded, LiveExchange, RECORD_BYTES } from './live-exchange.ts'
import type { ExchangeEnd, RecordedExchange } from './recorded-exchange.ts'
import type { Redactor } from './redact.ts'
import { type ShowingDeps, showExchange } from './show-exchange.ts'
import { Ordinals, whoAsked } from './who-asked.ts'

/** How much is kept. */
export interface LogBounds {
  /** Exchanges; 0 records nothing. */
  maxExchanges: number
  /** Bytes of memory they take, roughly; 0 records nothing. */
  maxBytes: number
}

/** What a log needs of its namespace. */
export interface ExchangeLogDeps extends LogBounds, ShowingDeps {
  clock: SandboxClock
}

/** Most of a body that is kept, in UTF-16 code units. */
const BODY_LIMIT = 64 * 1024
/** Characters of a request's id: `req_` and a ULID. */
const ID_LENGTH = 30
/** Records are used again from so many on: by then nobody has anything more to say of the one forgotten. */
const REUSED_AFTER = 1000
/** Of the bytes, those for what a verdict needs of the exchanges that are forgotten: 8 MiB of 64. */
const KEPT_SHARE = 1 / 8

/**
 * The newest exchanges of a namespace, bounded in number and bytes. Recording one costs little: the rest is worked out when it is read.
 */
export class ExchangeLog {
  /** True if anything is recorded. */
  readonly on: boolean
  readonly redactor: Redactor
  /** Changes when connections are counted anew. */
  generation = 0
  /** When a client last asked a chain itself, which is not recorded: milliseconds since the Unix epoch, null for never since the last reset. */
  rpcAt: number | null = null
  readonly #deps: ExchangeLogDeps
  /** Times are kept as milliseconds since then. */
  readonly #base: number
  /** The exchange of number n is at (n − #first) modulo the most that are kept. */
  #ring: (LiveExchange | undefined)[] = []
  #first = 1
  #oldest = 1
  #next = 1
  #bytes = 0
  #kept: KeptExchanges
  #forgotten: Forgotten = { room: 0, deleted: 0, reset: 0 }
  #connections = 0
  #ordinals = new Ordinals()
  /** By place in the ring. */
  readonly #ids = new PackedTexts(ID_LENGTH)
  readonly #texts = new SharedTexts()
  /** Of the answer recorded last: most of what a client is answered, it is answered again. */
  #text: unknown
  #textBytes = 0

  constructor(deps: ExchangeLogDeps) {
    this.#deps = deps
    this.redactor = deps.redactor
    this.on = deps.maxExchanges > 0 && deps.maxBytes > 0
    this.#base = deps.clock.wallNow()
    this.#kept = this.#keptAnew()
  }

  /** How many are kept. */
  get size(): number {
    return this.#next - this.#oldest
  }

  /** What was recorded and is neither here nor among {@link kept}. Requests for paths that nobody serves do not count. */
  get forgotten(): Readonly<Forgotten> {
    return { ...this.#forgotten }
  }

  /** Forgotten exchanges that a verdict needs, oldest first; each is shown when it is asked for. See {@link KeptExchanges}. */
  *kept(): Generator<RecordedExchange> {
    for (const { live, request_id, ordinal } of this.#kept.all()) yield this.#showAs(live, request_id, ordinal)
  }

  /** Every exchange kept, oldest first. */
  all(): RecordedExchange[] {
    return [...this.newestFirst()].reverse()
  }

  /** Newest first, beginning before the one of this number. Each is shown when it is asked for; what is forgotten by then is left out. */
  newestFirst(before = Number.POSITIVE_INFINITY): Generator<RecordedExchange> {
    return this.numbered(downFrom(Math.min(this.#next, before) - 1, this.#oldest))
  }

  /** The exchanges of these numbers, as {@link newestFirst} shows them. */
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

  /** The exchange of that request, if it is kept. */
  get(requestId: string): RecordedExchange | undefined {
    const kept = this.#here()
    const at = kept.findLastIndex((live) => this.idOf(live) === requestId)
    const live = kept[at]
    return live && this.#show(live, this.#counted()[at])
  }

  /** Id of the request whose exchange it is; empty for one that was forgotten. */
  idOf(live: LiveExchange): string {
    return this.#at(live.number) === live ? this.#ids.get(this.#place(live.number)) : ''
  }

  /** Forgets everything. Numbers go on, so that none comes a second time. */
  clear(): void {
    this.#forgotten.deleted += this.#counting()
    this.#empty()
    this.#first = this.#next
    this.#oldest = this.#next
  }

  /** For a reset: forgets what is over and counts anew. What is open stays, and is cut off however it ends. */
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
  }

  /** For a stop: what is open is cut off. */
  cutOff(): void {
    for (const live of this.#here()) if (live.end === 'open') this.end(live, 'cut_off')
  }

  /** Ordinal of a connection that has not been counted. */
  nextConnection(): number {
    this.#connections++
    return this.#connections
  }

  /** Records that a request has come in; `arrived` is when, in milliseconds since the Unix epoch, if that was earlier. */
  open(arrival: Arrival, arrived?: number): LiveExchange {
    const { clock } = this.#deps
    const wall = arrived ?? clock.wallNow()
    const size = RECORD_BYTES + this.#texts.share(arrival)
    const times = { began: wall - this.#base, ahead: clock.at(wall) - wall, size }
    // What is kept anew is dear: the collector copies it twice. So a record that has done its duty is used again.
    const oldest = this.size >= this.#deps.maxExchanges ? this.#forgetOldest() : undefined
    const live = oldest?.spent && this.size >= REUSED_AFTER ? oldest : new LiveExchange()
    live.begin(this.#next, arrival, times)
    this.#ids.set(this.#place(this.#next), arrival.request_id)
    this.#put(live)
    return live
  }

  /** Keeps the body of a request: the beginning of a long one. `whole`: whether all of it has come. The last that is noted counts. */
  takeBody(live: LiveExchange, text: string | null, bytes: number, whole = true): void {
    const before = live.body?.length ?? 0
    live.body = text === null ? null : bounded(text, BODY_LIMIT)
    live.bodyBytes = bytes
    live.bodyCut = !whole || (live.body?.length ?? 0) < (text?.length ?? 0)
    this.#grow(live, (live.body?.length ?? 0) - before)
  }

  /** Keeps an answer, or what would have been one. The first that is told counts. */
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

  /** Notes how an exchange has ended, now. The first end that is told counts. */
  end(live: LiveExchange, end: Exclude<ExchangeEnd, 'open'>): void {
    if (live.end !== 'open') return
    this.endAgain(live, end)
  }

  /** As {@link end}, of one that was taken for answered too early. */
  endAgain(live: LiveExchange, end: Exclude<ExchangeEnd, 'open'>): void {
    const { clock } = this.#deps
    const wall = clock.wallNow()
    live.end = live.cutOff ? 'cut_off' : end
    live.ended = wall - this.#base
    live.endedAhead = clock.at(wall) - wall
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
    if (this.#at(live.number) !== live) return // forgotten meanwhile
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

  /** How many exchanges of operations there are, here and kept. */
  #counting(counts: (live: LiveExchange) => boolean = () => true): number {
    return this.#here().filter((live) => live.operation !== null && counts(live)).length + this.#kept.size
  }

  /** The how-manyth of its kind each one kept is, oldest first. */
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

/** Headers of a request that are kept; a client sends a dozen. Each a name and a value. */
const MAX_HEADERS = 100
/** Bytes that each text of its headers takes beside its characters. */
const TEXT_BYTES = 24

/**
 * Lets a request that arrives have the texts of the one before where they are the same, as most of what a client sends is: what is kept anew
 * is dear, not what is compared.
 */
class SharedTexts {
  #headers: readonly string[] = []
  #headersSize = 0
  #url = ''

  /** @returns how many bytes the texts take, as if they were its own */
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

/** Texts in a piece of memory. */
const PIECE = 500
/** Texts that are written at once: to write each is dear, and few of so many are looked at by the garbage collector before. */
const AT_ONCE = 50

/**
 * Texts of one length in ASCII, by index, outside of the heap: the garbage collector neither copies nor looks at them. Memory is taken
 * in pieces, as far as there are texts.
 */
class PackedTexts {
  readonly #length: number
  readonly #pieces: Buffer[] = []
  /** Set last, one after the other from `#from` on, and not yet written. */
  #recent: string[] = []
  #from = 0

  constructor(length: number) {
    this.#length = length
  }

  set(index: number, text: string): void {
    if (index !== this.#from + this.#recent.length || index % AT_ONCE === 0) {
      this.#write()
      this.#from = index
    }
    this.#recent.push(text)
  }

  get(index: number): string {
    const recent = this.#recent[index - this.#from]
    if (recent !== undefined) return recent
    const start = (index % PIECE) * this.#length
    return this.#piece(index).toString('latin1', start, start + this.#length)
  }

  /** Never beyond the end of a piece, which is a multiple of how many are written at once. */
  #write(): void {
    const start = (this.#from % PIECE) * this.#length
    this.#piece(this.#from).write(this.#recent.join(''), start, 'latin1')
    this.#recent = []
  }

  #piece(index: number): Buffer {
    const at = Math.floor(index / PIECE)
    const known = this.#pieces[at]
    if (known) return known
    const made = Buffer.alloc(PIECE * this.#length)
    this.#pieces[at] = made
    return made
  }
}
