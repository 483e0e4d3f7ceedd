import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { EventFeed } from '../../src/overview/event-feed.ts'
import { EventStreams } from '../../src/overview/event-stream.ts'
import { News } from '../../src/overview/news.ts'
import { Overview } from '../../src/overview/overview.ts'
import { ExchangeLog } from '../../src/traffic/exchange-log.ts'
import { Redactor } from '../../src/traffic/redact.ts'

/** A clock whose sleepers wake when the test says so. */
class HandClock extends SandboxClock {
  wall = 1_000_000
  #sleepers: { due: number; wake: () => void }[] = []

  override wallNow(): number {
    return this.wall
  }

  override monotonicNow(): number {
    return this.wall
  }

  override wallSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#sleepers.push({ due: this.wall + milliseconds, wake: resolve })
      signal?.addEventListener('abort', () => resolve())
    })
  }

  /** Lets real time pass, and everything that it wakes run. */
  async pass(milliseconds: number): Promise<void> {
    this.wall += milliseconds
    const due = this.#sleepers.filter((one) => one.due <= this.wall)
    this.#sleepers = this.#sleepers.filter((one) => one.due > this.wall)
    for (const { wake } of due) wake()
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  }
}

function overviewOf(lingerMs = 60_000) {
  const clock = new HandClock()
  const around = { clock, settings: { name: 'Service' }, redactor: new Redactor([]) }
  const exchanges = new ExchangeLog({ ...around, maxExchanges: 1000, maxBytes: 2 ** 26, tenantOf: () => 'acme' })
  const log = { error: () => undefined } as never
  const store = { get: async () => undefined } as unknown as Store
  let judgements = 0
  const evidence = () => {
    judgements++
    return Promise.reject(new Error('nothing is judged here'))
  }
  const deps = { exchanges, store, evidence, clock, seed: 7, log, news: new News(), listen: () => () => undefined }
  const overview = new Overview({ ...deps, lingerMs })
  return { clock, exchanges, overview, streams: new EventStreams(overview, clock), judgements: () => judgements }
}

/** Puts so many requests on record, each an operation of its own. */
function record(exchanges: ExchangeLog, count: number): void {
  for (let i = 0; i < count; i++) {
    const request_id = `req_${String(i).padStart(26, '0')}`
    const opened = exchanges.open({
      request_id,
      method: 'GET',
      url: '/v1/partner/pools',
      headers: [],
      connection: 1,
      operation: 'list_pools',
    })
    exchanges.takeAnswer(opened, 200, null, '{}')
    exchanges.end(opened, 'answered')
  }
}

/** The response to a reader who takes nothing more once `stuck`. */
class SlowResponse extends EventEmitter {
  text = ''
  stuck = false
  ended = false
  destroyed = false
  writableLength = 0

  write(text: string): void {
    if (this.stuck) this.writableLength += text.length
    else this.text += text
  }

  end(): void {
    this.ended = true
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }

  get asResponse(): ServerResponse {
    return this as unknown as ServerResponse
  }
}

test('a silent stream shows a sign of life every 15 seconds', async () => {
  const { clock, streams } = overviewOf()
  const response = new SlowResponse()
  streams.open(response.asResponse, undefined)
  expect(response.text).toMatch(/^retry: 1000\nid: \w+\.0\nevent: hello\ndata: \{\}\n\n$/)
  response.text = ''
  await clock.pass(14_999)
  expect(response.text).toBe('')
  await clock.pass(1)
  expect(response.text).toBe(':\n\n')
  await clock.pass(15_000)
  expect(response.text).toBe(':\n\n:\n\n')
  response.destroy()
  await clock.pass(15_000)
  expect(response.text).toBe(':\n\n:\n\n')
})

test('a reader who takes nothing is dropped, and others go on', () => {
  const { overview, streams } = overviewOf()
  const [slow, quick] = [new SlowResponse(), new SlowResponse()]
  streams.open(slow.asResponse, undefined)
  streams.open(quick.asResponse, undefined)
  slow.stuck = true
  for (let i = 0; i < 30_000; i++) overview.emit('block', { chain_id: '31337', number: i })
  expect([slow.destroyed, quick.destroyed, streams.size]).toEqual([true, false, 1])
  expect(quick.text).toContain('"number":29999')
})

test('of many streams the oldest ends', () => {
  const { streams } = overviewOf()
  const responses = Array.from({ length: 33 }, () => new SlowResponse())
  for (const response of responses) streams.open(response.asResponse, undefined)
  expect(responses.map(({ ended }) => ended)).toEqual([true, ...Array.from({ length: 32 }, () => false)])
  expect(streams.size).toBe(32)
})

test('the log is watched while somebody reads, and a minute longer, so that a reader can come again', async () => {
  const { clock, exchanges, overview, streams } = overviewOf()
  expect(exchanges.watcher).toBeNull()
  const response = new SlowResponse()
  streams.open(response.asResponse, undefined)
  await clock.pass(600_000)
  expect(exchanges.watcher).not.toBeNull()
  response.destroy()
  await clock.pass(59_000)
  expect(exchanges.watcher).not.toBeNull()
  await clock.pass(60_000)
  await clock.pass(60_000)
  expect([exchanges.watcher, overview.isOpen]).toEqual([null, false])
})

test('operations are judged at once, but a thousand of them 0.3 seconds later, after the first rows', async () => {
  await import('../../src/overview/judged-operations.ts') // else it is loaded at the first judgement
  const few = overviewOf()
  record(few.exchanges, 999)
  const page = few.overview.page(10)
  await few.clock.pass(0)
  expect(few.judgements()).toBe(1)
  await few.clock.pass(40) // as long as a page waits for it
  expect(await page).toMatchObject({ total: 999, judged: false })
  few.overview.end('stopping')

  const many = overviewOf()
  record(many.exchanges, 1000)
  expect(await many.overview.page(10)).toMatchObject({ total: 1000, judged: false })
  await many.clock.pass(299)
  expect(many.judgements()).toBe(0)
  await many.clock.pass(1)
  expect(many.judgements()).toBe(1)
  many.overview.end('stopping')
})

test('a feed gives what came after an id, as long as it has that', () => {
  const feed = new EventFeed('life')
  expect(feed.lastId).toBe('life.0')
  expect(feed.since('life.0')).toEqual([])
  for (let number = 1; number <= 1500; number++) feed.emit('block', { chain_id: '31337', number })
  expect(feed.since('life.1498')?.map(({ id }) => id)).toEqual(['life.1499', 'life.1500'])
  expect(feed.since('life.500')).toHaveLength(1000)
  for (const id of ['life.499', 'life.1501', 'life.-1', 'life.x', 'life', '', 'other.1500'])
    expect(feed.since(id)).toBeUndefined()
})

test('a feed keeps a bounded length of large events', () => {
  const feed = new EventFeed('life')
  for (let i = 0; i < 20; i++) feed.emit('headline', { sentence: 'x'.repeat(1024 * 1024) } as never)
  expect(feed.since('life.10')).toBeUndefined()
  expect(feed.since('life.15')).toHaveLength(5)
})
