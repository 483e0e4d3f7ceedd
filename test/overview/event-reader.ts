import { expect } from 'vitest'
import type { InspectorEvents } from '../../src/overview/contract.ts'
import { eventually } from '../helpers/eventually.ts'

/** An event as it came over a stream. */
export interface ReadEvent {
  id: string
  event: keyof InspectorEvents
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any
}

/** Reads a stream of server-sent events as a browser does. */
export class EventReader {
  readonly events: ReadEvent[] = []
  /** Comments: signs of life. */
  comments = 0
  ended = false
  readonly #cut = new AbortController()

  static async open(controlUrl: string, lastId?: string): Promise<EventReader> {
    const reader = new EventReader()
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
    const response = await fetch(`${controlUrl}/events`, { headers, signal: reader.#cut.signal })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    void reader.#read(response).catch(() => {
      reader.ended = true
    })
    return reader
  }

  async #read(response: Response): Promise<void> {
    let rest = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) this.#take(block)
    }
    this.ended = true
  }

  #take(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    )
    const event = fields.get('event')
    if (event === undefined) this.comments++
    else this.events.push({ id: fields.get('id')!, event: event as 'hello', data: JSON.parse(fields.get('data')!) })
  }

  /** The first event that fits, once it has come. */
  until(fits: (event: ReadEvent) => boolean): Promise<ReadEvent> {
    return eventually(() => {
      const found = this.events.find(fits)
      if (!found) throw new Error(`it has not come: ${this.events.map(({ event }) => event)}`)
      return found
    })
  }

  /** The rows of all events so far, each as it came last, without those that are gone. */
  rows(): Map<number, InspectorEvents['operations']['operations'][number]> {
    const rows = new Map()
    for (const { event, data } of this.events) {
      if (event === 'forgotten') rows.clear()
      if (event !== 'operations') continue
      for (const number of data.gone) rows.delete(number)
      for (const row of data.operations) rows.set(row.number, row)
    }
    return rows
  }

  /** Ends the connection. */
  cut(): void {
    this.#cut.abort()
  }
}
