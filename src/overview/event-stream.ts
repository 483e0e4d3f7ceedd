import type { ServerResponse } from 'node:http'
import type { SandboxClock } from '../domain/clock.ts'
import type { FedEvent } from './event-feed.ts'
import type { Overview } from './overview.ts'

/** Milliseconds of real time between two signs of life, for proxies that end silent connections. */
const HEARTBEAT_MS = 15_000
/** Bytes that a slow reader may leave unread: some hundred rows more than the system's own buffers hold. */
const MAX_BUFFERED = 1024 * 1024
/** Streams of a namespace at once: a browser has one for all its tabs. The next one ends the oldest. */
const MAX_STREAMS = 32
/** Milliseconds after which a browser comes again. */
const RETRY_MS = 1000

/** Open streams of one namespace's events (server-sent events, WHATWG HTML 9.2). */
export class EventStreams {
  readonly #overview: Overview
  readonly #clock: SandboxClock
  /** Ends each stream, the oldest first. */
  readonly #open = new Set<() => void>()

  constructor(overview: Overview, clock: SandboxClock) {
    this.#overview = overview
    this.#clock = clock
  }

  /** Number of open streams. */
  get size(): number {
    return this.#open.size
  }

  /**
   * Answers with the events after `lastId`, without an id with those from now on, until the reader leaves, falls behind, or the last event
   * has come. The headers of the response must be written.
   */
  open(response: ServerResponse, lastId: string | undefined): void {
    const [oldest] = this.#open
    if (this.#open.size >= MAX_STREAMS) oldest?.()
    const feed = this.#overview.feed()
    const leave = this.#overview.attend()
    const over = new AbortController()
    const write = (text: string) => {
      response.write(text)
      if (response.writableLength > MAX_BUFFERED) response.destroy()
    }
    const pass = (event: FedEvent) => {
      write(written(event))
      if (event.event === 'ended') end()
    }
    const unread = feed.read(pass)
    const end = () => {
      if (over.signal.aborted) return
      over.abort()
      unread()
      leave()
      this.#open.delete(end)
      response.end()
    }
    this.#open.add(end)
    response.once('close', end)
    const missed = lastId === undefined ? [] : feed.since(lastId)
    const begin = missed && lastId !== undefined ? lastId : feed.lastId
    write(`retry: ${RETRY_MS}\n${written({ id: begin, event: 'hello', data: '{}' })}`)
    if (missed) for (const event of missed) pass(event)
    else write(written({ id: feed.lastId, event: 'anew', data: '{}' }))
    void this.#beat(write, over.signal)
  }

  async #beat(write: (text: string) => void, over: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.wallSleep(HEARTBEAT_MS, over)
      if (over.aborted) return
      write(':\n\n')
    }
  }
}

function written({ id, event, data }: FedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}
