import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../support/logger.ts'
import type { InspectorEvents, InspectorPoll, JudgedDetail, OperationPage } from './contract.ts'
import { EventFeed, polledEvent } from './event-feed.ts'
import type { JudgedOperations } from './judged-operations.ts'
import { LiveOperations, MANY } from './live-operations.ts'
import type { News } from './news.ts'
import { detailOf } from './operation-detail.ts'
import type { ViewSources } from './operations-view.ts'

/** Changes beside the requests, as they happen. */
export interface Hearing {
  /** The clock was moved. */
  moved(): void
  /** The rules in force have changed, or one has struck. */
  struck(): void
  /** A chain has a new block. */
  mined(chainId: string, number: number): void
}

/** Dependencies of an overview. */
export interface OverviewDeps extends ViewSources {
  clock: SandboxClock
  log: Logger
  /** Begins to hear of changes beside the requests. Returns what ends that. */
  listen(hearing: Hearing): () => void
  /** Of the namespaces as a whole. */
  news: News
  /** Milliseconds of real time for which it goes on when nobody reads any more; default: a minute. */
  lingerMs?: number
}

/** Milliseconds of real time for which an overview is kept up to date after the last reader has gone: a page comes again after a cut. */
const LINGER_MS = 60_000
/** Milliseconds of real time that a page waits for the judgement of its rows, unless they are {@link MANY}. */
const PATIENCE_MS = 40
/** Milliseconds of real time in which changes beside the requests are gathered: only the last of a kind counts. */
const GATHER_MS = 100

/** What people look at in a namespace. It costs nothing until somebody looks, and ends a minute after the last one. */
export class Overview {
  readonly #deps: OverviewDeps
  #open: OpenOverview | undefined
  #ended = false

  constructor(deps: OverviewDeps) {
    this.#deps = deps
  }

  /** The newest operations below a number. */
  async page(limit: number, before?: number): Promise<OperationPage> {
    const { exchanges } = this.#deps
    const { live, feed } = this.#use()
    await this.#ready(live)
    const event_id = feed.lastId
    const { view } = live
    const groups = []
    let more = false
    for (const group of view.newestFirst(before)) {
      more = groups.length === limit
      if (more) break
      groups.push(group)
    }
    const { room, deleted, reset } = exchanges.forgotten
    return {
      operations: await view.rows(groups),
      next_before: more ? (groups.at(-1)?.number ?? null) : null,
      total: view.total,
      forgotten: room + deleted + reset,
      headline: view.headline,
      judged: view.judged,
      event_id,
    }
  }

  /** The operation that has a number as its own or as that of one of its requests; undefined if there is none. */
  async operation(number: number): Promise<JudgedDetail | undefined> {
    const { live } = this.#use()
    await this.#ready(live)
    const group = live.view.find(number)
    const read = group && (await live.view.read(group))
    return read && detailOf(read, this.#deps)
  }

  /** Waits until everything on record is there and, where that does not take long, judged. */
  async #ready(live: LiveOperations): Promise<void> {
    await live.upToDate()
    if (live.view.total < MANY) await Promise.race([live.judgement, this.#deps.clock.wallSleep(PATIENCE_MS)])
  }

  /** The judgement of everything on record: one for all who ask, until something comes. Throws what the evidence throws. */
  judged(): Promise<JudgedOperations> {
    return this.#use().live.judged()
  }

  /** The feed of events, kept up to date as long as somebody reads it. */
  feed(): EventFeed {
    return this.#use().feed
  }

  /** Notes that somebody reads the feed, until the returned function is called. */
  attend(): () => void {
    const open = this.#use()
    open.readers++
    return () => {
      open.readers--
      open.usedAt = this.#deps.clock.wallNow()
    }
  }

  /** Events after an id, at once; without an id none. */
  poll(lastId: string | undefined): InspectorPoll {
    const { feed } = this.#use()
    const events = lastId === undefined ? [] : feed.since(lastId)?.map(polledEvent)
    return { event_id: feed.lastId, events: events ?? [{ event: 'anew', data: {} }] }
  }

  /** Tells those who look, if there are any. */
  emit<Name extends keyof InspectorEvents>(event: Name, data: InspectorEvents[Name]): void {
    this.#open?.feed.emit(event, data)
  }

  /** Ends it for good. */
  end(reason: InspectorEvents['ended']['reason']): void {
    this.#ended = true
    this.emit('ended', { reason })
    this.#close()
  }

  /** @returns true if it is kept up to date */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Number of rules that the last judgement found broken; null while nobody looks, and before the first judgement. Nothing is judged for it. */
  get brokenRules(): number | null {
    return this.#open?.live.view.brokenRules ?? null
  }

  #use(): OpenOverview {
    const { clock } = this.#deps
    if (this.#open) {
      this.#open.usedAt = clock.wallNow()
      return this.#open
    }
    const feed = new EventFeed(clock.wallNow().toString(36))
    const live = new LiveOperations({ ...this.#deps, feed })
    const open = { feed, live, readers: 0, usedAt: clock.wallNow(), unlisten: this.#hear(feed) }
    this.#open = open
    if (this.#ended) this.#close()
    else void this.#expire(open)
    return open
  }

  /** Feeds changes beside the requests. Returns what ends that. */
  #hear(feed: EventFeed): () => void {
    const { clock, news, listen } = this.#deps
    const gathered = new Map<string, () => void>()
    const soon = (name: string, emit: () => void) => {
      const isFirst = gathered.size === 0
      gathered.set(name, emit)
      if (!isFirst) return
      void clock.wallSleep(GATHER_MS).then(() => {
        const due = [...gathered.values()]
        gathered.clear()
        if (this.#open?.feed === feed) for (const emit of due) emit()
      })
    }
    const unlisten = listen({
      moved: () => soon('clock', () => feed.emit('clock', clockState(clock))),
      struck: () => soon('faults', () => feed.emit('faults', {})),
      mined: (chain_id, number) => soon(`block ${chain_id}`, () => feed.emit('block', { chain_id, number })),
    })
    const unsubscribe = news.listen(() => soon('namespaces', () => feed.emit('namespaces', {})))
    return () => {
      unlisten()
      unsubscribe()
    }
  }

  /** Closes it when nobody has read for a while. */
  async #expire(open: OpenOverview): Promise<void> {
    const { clock, lingerMs = LINGER_MS } = this.#deps
    while (this.#open === open) {
      await clock.wallSleep(lingerMs)
      if (this.#open === open && open.readers === 0 && clock.wallNow() - open.usedAt >= lingerMs) this.#close()
    }
  }

  #close(): void {
    this.#open?.live.end()
    this.#open?.unlisten()
    this.#open = undefined
  }
}

/** A clock as it is shown. */
export function clockState(clock: SandboxClock): InspectorEvents['clock'] {
  return { now: clock.iso(), frozen: clock.frozen, offset_seconds: Math.round(clock.offset / 1000) }
}

interface OpenOverview {
  feed: EventFeed
  live: LiveOperations
  readers: number
  /** Real time of the last use, milliseconds since the Unix epoch. */
  usedAt: number
  unlisten(): void
}
