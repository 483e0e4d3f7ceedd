import type { InspectorEvent, InspectorEvents } from './contract.ts'

/** An event, written once for all who read it. */
export interface FedEvent {
  id: string
  event: keyof InspectorEvents
  /** JSON. */
  data: string
}

/** Number of events that one may miss and still get, and their length in UTF-16 code units. */
const MAX_EVENTS = 1000
const MAX_LENGTH = 8 * 1024 * 1024

/** The events of a namespace: the newest are kept, so that a reader who was cut off can go on. */
export class EventFeed {
  /** Distinguishes its ids from those of every other feed. */
  readonly #life: string
  readonly #events: FedEvent[] = []
  readonly #readers = new Set<(event: FedEvent) => void>()
  #length = 0
  #count = 0

  constructor(life: string) {
    this.#life = life
  }

  /** Id of the newest event. */
  get lastId(): string {
    return this.#idOf(this.#count)
  }

  emit<Name extends keyof InspectorEvents>(event: Name, data: InspectorEvents[Name]): void {
    this.#count++
    const fed = { id: this.lastId, event, data: JSON.stringify(data) }
    this.#events.push(fed)
    this.#length += fed.data.length
    while (this.#events.length > MAX_EVENTS || (this.#length > MAX_LENGTH && this.#events.length > 1)) {
      this.#length -= this.#events.shift()?.data.length ?? 0
    }
    for (const reader of [...this.#readers]) reader(fed)
  }

  /** Events after the one of that id, oldest first; undefined if it is unknown, or some of them are not kept any more. */
  since(id: string): FedEvent[] | undefined {
    const [life, number = ''] = id.split('.', 2)
    const seen = /^\d{1,15}$/.test(number) ? Number(number) : Number.NaN
    const missed = this.#count - seen
    if (life !== this.#life || !(missed >= 0 && missed <= this.#events.length)) return undefined
    return missed === 0 ? [] : this.#events.slice(-missed)
  }

  /** Calls back for each event from now on. Returns the unsubscriber. */
  read(reader: (event: FedEvent) => void): () => void {
    this.#readers.add(reader)
    return () => this.#readers.delete(reader)
  }

  #idOf(number: number): string {
    return `${this.#life}.${number}`
  }
}

/** An event as a polling client gets it. */
export function polledEvent({ event, data }: FedEvent): InspectorEvent {
  return { event, data: JSON.parse(data) } as InspectorEvent
}
