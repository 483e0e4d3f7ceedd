import { describe, expect, test } from 'vitest'
import type { Sibling } from '../../src/oracle/facts.ts'
import { operationsOf } from '../../src/oracle/operation.ts'
import { RunSurroundings, toldOf } from '../../src/oracle/told.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { type EvidenceParts, evidenceOf } from '../verdict/evidence.ts'
import { exchange } from '../verdict/exchange.ts'
import { booked, LOST, list, sibling, transfer } from './story.ts'

interface Rest extends EvidenceParts {
  sibling?: Sibling
  starts?: readonly number[]
  until?: number
}

/** Of the deposit `a`, which was carried out. */
function telling(exchanges: readonly RecordedExchange[], { sibling, starts, until, ...rest }: Rest = {}) {
  const evidence = evidenceOf(exchanges, { transfers: [booked('a')], ...rest })
  const operation = operationsOf(evidence).find(({ key }) => key === 'a')
  if (!operation) throw new Error('There is no such operation.')
  return toldOf(operation, new RunSurroundings(evidence, sibling, { starts }), until)
}
const told = (exchanges: readonly RecordedExchange[], rest?: Rest) => telling(exchanges, rest).told

/** Ends at 20. */
const lost = transfer({ key: 'a', at: 0, until: 20, ...LOST })
const shown = (at: number, parts: object = {}) => list(at, ['0xa'], parts)
const balance = (at: number, parts: object = {}) => exchange({ operation: 'list_portfolios', at, ...parts })

describe('a list', () => {
  test('is what shows it, and nothing else is', () => {
    const look = shown(50)
    expect(telling([lost, look])).toEqual({ told: 'found', by: [look].map(numbered(2)), looked: false })
    expect(telling([transfer({ key: 'a' })])).toEqual({ told: 'done', by: [], looked: false })
    expect(telling([lost])).toEqual({ told: 'nothing', by: [], looked: false })
  })

  test('that does not have it was a look; the first one is named', () => {
    const [one, other] = [list(50, []), list(60, [])]
    expect(telling([lost, one, other])).toEqual({ told: 'nothing', by: [one].map(numbered(2)), looked: true })
  })

  test('of another tenant, a refused one, or one without a body shows nothing', () => {
    expect(told([lost, shown(50, { tenant: 'globex' })])).toBe('nothing')
    expect(told([lost, shown(50, { response: { status: 404 } })])).toBe('nothing')
    expect(told([lost, shown(50, { response: { body: null } })])).toBe('nothing')
  })

  test('counts from the first attempt that ended, by the clock of a server that is a little late', () => {
    expect(told([lost, shown(50), transfer({ key: 'a', at: 100, ...LOST })])).toBe('found')
    expect(told([lost, shown(10)])).toBe('found')
    expect(told([lost, shown(9)])).toBe('nothing')
  })

  test('that was cut may show it, and is named', () => {
    const cut = list(50, [], { response: { body_cut: true } })
    expect(telling([lost, cut])).toMatchObject({ told: 'in_passing', by: [{ request_id: cut.request_id }] })
  })
})

describe('a list is asked for because of it', () => {
  test.each(['deposit', 'withdraw', 'create_portfolio'] as const)(
    'unless a %s of that end user came in between',
    (operation) => {
      const between = exchange({ operation, at: 30, idempotency: { key: 'b', use: 'first' } })
      expect(told([lost, between, shown(50)])).toBe('in_passing')
      expect(told([between, { ...lost, began: between.began }, shown(50)])).toBe('found')
      expect(told([lost, shown(50), between])).toBe('found')
    },
  )

  test('reads in between are no reason', () => {
    expect(told([lost, exchange({ operation: 'list_pools', at: 30 }), balance(40), shown(50)])).toBe('found')
  })

  test('beside an unharmed run if it is one more of that kind, for that end user', () => {
    const one = sibling({ lists: () => 1 })
    expect(told([lost, shown(50)], { sibling: one })).toBe('in_passing')
    expect(told([lost, shown(50), shown(60)], { sibling: one })).toBe('found')
    expect(told([lost, shown(50), list(60, [], { external_id: 'bob' })], { sibling: one })).toBe('in_passing')
    // Of a client that was killed, those of one start count: each may ask for all of them anew.
    const lists = [
      { ...lost, number: 1 },
      { ...shown(50), number: 2 },
      { ...shown(60), number: 3 },
    ]
    expect(told(lists, { sibling: one, starts: [2] })).toBe('in_passing')
    expect(told(lists, { sibling: one, starts: [1] })).toBe('found')
    expect(told(lists, { sibling: one, starts: [] })).toBe('found')
    expect(told([lost, shown(50), balance(60)], { sibling: sibling({ lists: () => 1 }) })).toBe('in_passing')
  })
})

describe('the balance', () => {
  test('tells of a transfer, and is named', () => {
    const look = balance(50)
    expect(telling([lost, look])).toMatchObject({ told: 'balance', by: [{ request_id: look.request_id }] })
  })

  test('that a fast client read just before tells nothing, although only milliseconds lie between', () => {
    const fast = transfer({ key: 'a', at: 3, until: 8, ...LOST })
    expect(told([balance(1), fast])).toBe('nothing')
    expect(told([shown(1), fast])).toBe('nothing')
    expect(told([fast, balance(9)])).toBe('balance')
  })

  test('is no proof of a portfolio: that has a list of its own', () => {
    const made = exchange({
      ...LOST,
      operation: 'create_portfolio',
      idempotency: { key: 'a', use: 'first' },
    })
    expect(telling([made, balance(50)])).toMatchObject({ told: 'nothing', looked: true })
    // One that was not made has no id to be found by.
    expect(told([made, balance(50, { response: { body: '{"next_cursor":null}' } })])).toBe('nothing')
  })
})

describe('until another request was sent', () => {
  const answered = transfer({ key: 'a', at: 0, until: 60 })

  test('only an answer that had come by then tells anything', () => {
    expect(told([answered], { until: 60 })).toBe('done')
    expect(told([answered], { until: 50 })).toBe('done')
    expect(told([answered], { until: 49 })).toBe('nothing')
  })

  test('only a list asked for by then shows it', () => {
    expect(told([lost, shown(60)], { until: 60 })).toBe('found')
    expect(told([lost, shown(60)], { until: 59 })).toBe('nothing')
  })

  test('only a chain asked after the last attempt, and by then, says it', () => {
    expect(told([lost], { rpc_at: 20, until: 20 })).toBe('chain')
    expect(told([lost], { rpc_at: 19 })).toBe('nothing')
    expect(told([lost], { rpc_at: 30, until: 29 })).toBe('nothing')
    expect(told([{ ...lost, ended: lost.began }], { rpc_at: null })).toBe('nothing')
  })
})

/** As evidence numbers it. */
function numbered(number: number) {
  return (exchange: RecordedExchange) => ({ ...exchange, number })
}
