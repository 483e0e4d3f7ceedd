import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../support/logger.ts'
import type { InspectorEvents, InspectorPoll, OperationDetail, OperationPage } from './contract.ts'
import { EventFeed, polledEvent } from './event-feed.ts'
import { LiveOperations } from './live-operations.ts'
import { detailOf } from './operation-detail.ts'
import type { ViewSources } from './operations-view.ts'

/** Dependencies of an overview. */
export interface OverviewDeps extends ViewSources {
  clock: SandboxClock
  log: Logger
  /** Begins to hear of changes beside the requests: clock, faults, blocks. Returns what ends that. */
  listen?(emit: EventFeed['emit']): () => void
  /** Milliseconds of real time for which it goes on when nobody reads any more; default: a minute. */
  lingerMs?: number
}

/** Milliseconds of real time for which an overview is kept up to date after the last reader has gone: a page comes again after a cut. */
const LINGER_MS = 60_000
/** Milliseconds of real time that a page waits for the judgement of its rows. */
const PATIENCE_MS = 40

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
    const { exchanges, clock } = this.#deps
    const { live, feed } = this.#use()
    await live.upToDate()
    await Promise.race([live.judgement, clock.wallSleep(PATIENCE_MS)])
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
  async operation(number: number): Promise<OperationDetail | undefined> {
    const { live } = this.#use()
    await live.upToDate()
    await Promise.race([live.judgement, this.#deps.clock.wallSleep(PATIENCE_MS)])
    const group = live.view.find(number)
    const read = group && (await live.view.read(group))
    return read && detailOf(read, this.#deps)
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

  #use(): OpenOverview {
    const { clock } = this.#deps
    if (this.#open) {
      this.#open.usedAt = clock.wallNow()
      return this.#open
    }
    const feed = new EventFeed(clock.wallNow().toString(36))
    const live = new LiveOperations({ ...this.#deps, feed })
    const unlisten = this.#deps.listen?.((event, data) => feed.emit(event, data))
    const open = { feed, live, readers: 0, usedAt: clock.wallNow(), unlisten: () => unlisten?.() }
    this.#open = open
    if (this.#ended) this.#close()
    else void this.#expire(open)
    return open
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

interface OpenOverview {
  feed: EventFeed
  live: LiveOperations
  readers: number
  /** Real time of the last use, milliseconds since the Unix epoch. */
  usedAt: number
  unlisten(): void
}
