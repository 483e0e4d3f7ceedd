import { effect, signal } from '@preact/signals-core'
import type { ClockState, Headline, InspectorEvents, OperationPage } from '../../control/contract.ts'
import { first } from '../first.ts'
import { namespace } from './address.ts'
import { type ApiError, call, pathOf, received } from './api.ts'
import { browserTime } from './browser-time.ts'
import { dropRows, forgetRows, rows, takeRows } from './rows.ts'
import { needsToken } from './session.ts'

/** `polling`: something between page and sandbox does not let a stream through. `gone`: the namespace was deleted. */
export type LinkState = 'connecting' | 'live' | 'polling' | 'reconnecting' | 'gone'

/** State of the connection, for a corner of the page. */
export const connection = signal<LinkState>('connecting')
/** The sentence at the top; null before it is known. */
export const headline = signal<Headline | null>(null)
/** The sandbox's clock; null before it is known. */
export const clock = signal<ClockState | null>(null)
/** Counts the changes of what views read by themselves: they read again when it changes. */
export const versions = { faults: signal(0), block: signal(0), namespaces: signal(0), operations: signal(0) }
/** Rows of a burst that the stream left out. */
export const leftOut = signal(0)

type EventName = keyof InspectorEvents
type StreamEvent = { [Name in EventName]: { id: string; event: Name; data: InspectorEvents[Name] } }[EventName]

const EVENT_NAMES = ['headline', 'forgotten', 'clock', 'anew', ...Object.keys(versions)] as EventName[]

/** Rows of each page after the first one. */
const MORE_ROWS = 1000
/** Milliseconds without the first event after which a stream counts as held back by a proxy. */
const HELD_BACK_MS = 4000
const POLL_MS = 1000
const RETRY_MS = 1000
/** Milliseconds after which the older rows are asked for: the newest ones are drawn by then. */
const REST_AFTER_MS = 50

/** Message of a new tab to the one that leads. */
const WHAT_STATE = 'what state?'

/** Follows the namespace that is shown, whichever it is, from now on. */
export function followNamespace(): void {
  let end = () => {}
  effect(() => {
    const name = namespace.value
    end()
    rows.value = []
    headline.value = null
    connection.value = 'connecting'
    const follower = new Follower(name)
    end = () => follower.end()
    follower.begin()
  })
}

/** One tab's part in the one stream that all tabs of a namespace share. */
class Follower {
  readonly #channel: BroadcastChannel
  readonly #lock = new AbortController()
  /** Id of the last event that this tab has. */
  #seen = ''
  /** Events of other tabs, until the first page is here. */
  #early: StreamEvent[] | null = []
  #stop = () => {}
  #ended = false
  /** What this tab said of the stream last; null unless it leads. */
  #state: LinkState | null = null

  constructor(name: string) {
    this.#channel = new BroadcastChannel(`yield-sandbox events of ${name}`)
  }

  begin(): void {
    this.#channel.onmessage = ({ data }: MessageEvent<StreamEvent | LinkState | typeof WHAT_STATE>) => {
      if (data === WHAT_STATE) {
        if (this.#state) this.#say(this.#state)
      } else if (typeof data === 'string') connection.value = data
      else if (this.#early) this.#early.push(data)
      else this.#take(data)
    }
    // A tab that leads already said how the stream does before this one listened.
    this.#channel.postMessage(WHAT_STATE)
    void this.#readAnew().then(() => this.#lead())
  }

  end(): void {
    this.#ended = true
    this.#lock.abort()
    this.#stop()
    this.#channel.close()
  }

  /** Waits until no other tab reads the stream, and reads it then. */
  async #lead(): Promise<void> {
    // Without locks (a page by http from another machine), each tab reads a stream of its own.
    if (!navigator.locks) return this.#stream()
    await navigator.locks
      .request(this.#channel.name, { signal: this.#lock.signal }, async () => {
        this.#stream()
        await new Promise((resolve) => this.#lock.signal.addEventListener('abort', resolve))
      })
      .catch(() => {}) // aborted
  }

  #stream(): void {
    if (this.#ended) return
    const source = new EventSource(`${pathOf('events')}?last_event_id=${encodeURIComponent(this.#seen)}`)
    let heldBack = browserTime.after(HELD_BACK_MS, () => {
      source.close()
      this.#poll()
    })
    const first = () => {
      heldBack()
      heldBack = () => {}
      this.#say('live')
    }
    source.addEventListener('hello', first)
    for (const event of EVENT_NAMES) {
      source.addEventListener(event, (message: MessageEvent<string>) => {
        first()
        this.#relay({ id: message.lastEventId, event, data: JSON.parse(message.data) } as StreamEvent)
      })
    }
    source.onerror = () => {
      heldBack()
      source.close()
      this.#say('reconnecting')
      this.#stop = browserTime.after(RETRY_MS, () => void this.#again())
    }
    this.#stop = () => {
      heldBack()
      source.close()
    }
  }

  /** Goes on with a new stream, unless the namespace is gone. */
  #again(): Promise<void> {
    return this.#insist(async () => {
      clock.value = await call<ClockState>('GET', 'clock')
      this.#stream()
    })
  }

  /** Does work that a lost connection interrupts, again each second; not for a namespace that is gone, nor for want of the control token. */
  async #insist(work: () => Promise<void>): Promise<void> {
    while (!this.#ended) {
      try {
        return await work()
      } catch (error) {
        if (this.#ended) return
        const { status } = error as Partial<ApiError>
        needsToken.value = status === 401
        const state = status === 404 ? 'gone' : 'reconnecting'
        if (this.#state) this.#say(state)
        else connection.value = state
        if (status === 401 || status === 404) return
        await this.#pause(RETRY_MS)
      }
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#stop = browserTime.after(milliseconds, resolve)
    })
  }

  #poll(): void {
    if (this.#ended) return
    const query = `events?poll=1&last_event_id=${encodeURIComponent(this.#seen)}`
    void call<{ event_id: string; events: Omit<StreamEvent, 'id'>[] }>('GET', query)
      .then(({ event_id, events }) => {
        this.#say('polling')
        for (const one of events) this.#relay({ ...one, id: event_id } as StreamEvent)
        this.#seen = event_id
      })
      .catch(() => this.#say('reconnecting'))
      .finally(() => {
        this.#stop = browserTime.after(POLL_MS, () => this.#poll())
      })
  }

  #say(state: LinkState): void {
    this.#state = state
    connection.value = state
    this.#channel.postMessage(state)
  }

  #relay(event: StreamEvent): void {
    this.#channel.postMessage(event)
    this.#take(event)
  }

  #take({ id, event, data }: StreamEvent): void {
    this.#seen = id
    switch (event) {
      case 'operations':
        dropRows(data.gone)
        takeRows(data.operations)
        leftOut.value += data.more
        versions.operations.value++
        break
      case 'headline':
        headline.value = data
        break
      case 'forgotten':
        forgetRows(data.oldest, data.oldest_money)
        versions.operations.value++
        break
      case 'clock':
        clock.value = data
        break
      case 'anew':
        void this.#readAnew()
        break
      case 'hello':
      case 'ended': // the connection ends as well
        break
      default:
        versions[event].value++
    }
  }

  /** Reads the newest rows, so that they show at once, then the older ones. */
  #readAnew(): Promise<void> {
    return this.#insist(async () => {
      const answers = first(pathOf('')).map((answer) => received(answer))
      const [page, now] = (await Promise.all(answers)) as [OperationPage, ClockState]
      if (this.#ended) return
      rows.value = page.operations
      headline.value = page.headline
      clock.value = now
      leftOut.value = 0
      this.#seen = page.event_id
      const early = this.#early ?? []
      this.#early = null
      for (const event of early) this.#take(event)
      if (page.next_before === null) return
      await this.#pause(REST_AFTER_MS)
      await readRows(page.next_before, () => this.#ended)
    })
  }
}

/** Reads the rows below a number, or all of them, until `isOver`. */
async function readRows(below: number | null, isOver = () => false): Promise<void> {
  let before = below
  do {
    const page: OperationPage = await call(
      'GET',
      `operations?limit=${MORE_ROWS}${before === null ? '' : `&before=${before}`}`,
    )
    takeRows(page.operations)
    before = page.next_before
  } while (before !== null && !isOver())
}

/** Shows the rows of a burst that the stream left out: old ones may be among them. */
export function readLeftOut(): Promise<void> {
  leftOut.value = 0
  return readRows(null)
}
