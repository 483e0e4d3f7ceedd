import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/domain/errors.ts'
import {
  type ExchangeFilter,
  type ExchangeQuery,
  exchangesInOrder,
  pageExchanges,
  type RecordedExchanges,
} from '../../src/traffic/page-exchanges.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

/** A log that keeps as many as it is told. */
class Log implements RecordedExchanges {
  exchanges: RecordedExchange[] = []
  /** How often the log was gone through for exchanges by number, and how many of them were made. */
  reads = 0
  made = 0

  constructor(readonly most = 1000) {}

  get size(): number {
    return this.exchanges.length
  }

  *newestFirst(before = Number.POSITIVE_INFINITY): Generator<RecordedExchange> {
    for (const one of this.exchanges.toReversed()) if (one.number < before) yield one
  }

  *numbered(numbers: Iterable<number>): Generator<RecordedExchange> {
    this.reads++
    for (const number of numbers) {
      const one = this.exchanges.find((each) => each.number === number)
      if (!one) continue
      this.made++
      yield one
    }
  }

  get(id: string): RecordedExchange | undefined {
    return this.exchanges.find(({ request_id }) => request_id === id)
  }

  clear(): void {
    this.exchanges = []
  }

  add(parts: ExchangeParts = {}): RecordedExchange {
    const one = exchange(parts)
    this.exchanges = [...this.exchanges, one].slice(-this.most)
    return one
  }
}

function filled(count: number, most?: number): Log {
  const log = new Log(most)
  for (let i = 0; i < count; i++) log.add()
  return log
}

const numbers = async (log: Log, query: ExchangeQuery) =>
  (await pageExchanges(log, query)).data.map(({ number }) => number)

async function refusal(log: Log, query: ExchangeQuery): Promise<Problem> {
  try {
    await pageExchanges(log, query)
  } catch (error) {
    if (error instanceof Problem) return error
  }
  throw new Error('it was not refused')
}

describe('pages', () => {
  test('hold the newest first, and lead to every one once', async () => {
    const log = filled(7)
    const newestFirst = log.exchanges.map(({ number }) => number).reverse()
    const pages: number[][] = []
    let cursor: string | undefined
    do {
      const page = await pageExchanges(log, { limit: 3, ...(cursor && { starting_after: cursor }) })
      pages.push(page.data.map(({ number }) => number))
      expect(page.has_more).toBe(page.next_cursor !== null)
      cursor = page.next_cursor ?? undefined
    } while (cursor)
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
    expect(pages.flat()).toEqual(newestFirst)
  })

  test('say that there is more only when something is', async () => {
    expect(await pageExchanges(filled(3), { limit: 3 })).toMatchObject({ has_more: false, next_cursor: null })
    expect(await pageExchanges(filled(4), { limit: 3 })).toMatchObject({ has_more: true })
    expect(await pageExchanges(filled(0), { limit: 3 })).toEqual({ data: [], has_more: false, next_cursor: null })
    const log = filled(4)
    log.add({ tenant: 'globex' })
    expect(await pageExchanges(log, { limit: 1, tenant: 'globex' })).toMatchObject({
      has_more: false,
      next_cursor: null,
    })
  })

  test('stay as they are while new ones arrive', async () => {
    const log = filled(5)
    const { next_cursor } = await pageExchanges(log, { limit: 2 })
    const second = { limit: 2, starting_after: next_cursor! }
    const before = await numbers(log, second)
    for (let i = 0; i < 10; i++) log.add()
    expect(await numbers(log, second)).toEqual(before)
  })

  test('without a limit hold all', async () => {
    expect(await numbers(filled(300), {})).toHaveLength(300)
  })
})

describe('a cursor', () => {
  test('whose exchange was forgotten says so, and how many are kept', async () => {
    const log = filled(5, 5)
    const { next_cursor } = await pageExchanges(log, { limit: 2 })
    for (let i = 0; i < 4; i++) log.add()
    const { code, details } = await refusal(log, { starting_after: next_cursor! })
    expect([code, details.param]).toEqual(['cursor_expired', 'starting_after'])
    expect(details.detail).toMatch(/was forgotten.*newest 5 are kept.*Fetch the first page/)
    log.clear()
    expect((await refusal(log, { starting_after: next_cursor! })).details.detail).toContain('none is kept')
  })

  test.each(['', 'abc', 'req_1', `${Buffer.from('before req_1').toString('base64url')}=`, '\u0000'])(
    '%j is none',
    async (cursor) => {
      const { code, details } = await refusal(filled(3), { starting_after: cursor })
      expect([code, details.param]).toEqual(['cursor_invalid', 'starting_after'])
    },
  )
})

describe('filters', () => {
  const fault = { id: 'fault-3', kind: 'drop_connection', phase: 'after_broadcast', explanation: 'It breaks.' }
  const FITTING: [ExchangeFilter, ExchangeParts][] = [
    [{ operation: 'withdraw' }, { operation: 'withdraw' }],
    [{ tenant: 'globex' }, { tenant: 'globex' }],
    [{ external_id: '<script>' }, { external_id: '<script>' }],
    [{ status: 404 }, { response: { status: 404 } }],
    [{ status: '4xx' }, { response: { status: 429 } }],
    [{ code: 'pool_not_found' }, { end: 'dropped', response: { status: 422, code: 'pool_not_found' } }],
    [
      { code: 'insufficient_role' },
      {
        response: null,
        refusal: { check: 'role', code: 'insufficient_role', aspect: null, expected: null, came: null, detail: '' },
      },
    ],
    [{ end: 'abandoned' }, { end: 'abandoned' }],
    [{ fault: 'fault-3' }, { faults: [fault] }],
    [{ fault: 'drop_connection' }, { faults: [fault] }],
    [{ idempotency_key: 'k' }, { idempotency: { key: 'k', use: 'first' } }],
    [{ connection: 12 }, { connection: 12 }],
  ]

  test.each(FITTING)('%j finds those that fit and no others', async (filter, parts) => {
    const log = filled(2)
    const wanted = log.add(parts)
    log.add()
    expect(await numbers(log, filter)).toEqual([wanted.number])
  })

  test('a status is what the client was answered', async () => {
    const log = new Log()
    log.add({ end: 'dropped', response: { status: 404 } })
    expect(await numbers(log, { status: 404 })).toEqual([])
    expect(await numbers(log, { status: '4xx' })).toEqual([])
  })

  test('several must all fit', async () => {
    const log = new Log()
    log.add({ operation: 'withdraw', tenant: 'globex' })
    const both = log.add({ operation: 'withdraw', tenant: 'acme' })
    expect(await numbers(log, { operation: 'withdraw', tenant: 'acme' })).toEqual([both.number])
  })
})

describe('all of them in order', () => {
  test('are the newest that fit, oldest first', async () => {
    const log = new Log()
    for (const operation of ['deposit', 'withdraw', 'deposit', 'deposit'] as const) log.add({ operation })
    const wanted = log.exchanges.filter(({ operation }) => operation === 'deposit').map(({ number }) => number)
    for (const limit of [undefined, 2]) {
      const query: ExchangeQuery = { operation: 'deposit', ...(limit !== undefined && { limit }) }
      const found: number[] = []
      for await (const { number } of await exchangesInOrder(log, query)) found.push(number)
      expect(found).toEqual(wanted.slice(-(limit ?? 9)))
    }
  })

  test('are made one by one in one reading, without those that were forgotten meanwhile', async () => {
    const log = filled(1_000)
    const found: number[] = []
    for await (const { number } of await exchangesInOrder(log, {})) {
      found.push(number)
      expect(log.made).toBe(found.length)
      if (found.length === 500) log.exchanges = log.exchanges.slice(-400)
    }
    expect(log.reads).toBe(1)
    expect(found).toHaveLength(900)
  })

  test('a cursor that leads nowhere is refused before anything is written', async () => {
    await expect(exchangesInOrder(filled(1), { starting_after: 'x' })).rejects.toThrow(Problem)
  })
})
