import { describe, expect, test } from 'vitest'
import { judgeTrial } from '../../src/explore/judge/judge-trial.ts'
import { shownTrial } from '../../src/explore/judge/show-trial.ts'
import { compareBaselines } from '../../src/explore/run/baseline.ts'
import { LOST, transfer } from '../oracle/story.ts'
import type { ExchangeParts } from '../verdict/exchange.ts'
import { money, pool } from './money.ts'
import { type Seen, seen } from './observation.ts'

const ALL = ['deposit 5', 'deposit 7']
const unharmed = seen({ transfers: ALL })
const expected = compareBaselines(unharmed, unharmed)

function shown(run: Seen, from = expected) {
  const observed = seen(run)
  return shownTrial(observed, judgeTrial(observed, from), from)
}

const usdc = (external_id: string, amounts: { before?: string; expected: string; is: string }) => ({
  ...{ tenant: 'acme', external_id, pool_id: 'aave-usdc', token_symbol: 'USDC', token_decimals: 6 },
  ...{ before_minor: amounts.before ?? '0', expected_minor: amounts.expected, is_minor: amounts.is },
})

test('of what is well, or worth a note alone, nothing', () => {
  const refused = (key: string): ExchangeParts => ({
    ...transfer({ key, at: 900, amount: '1' }),
    response: { status: 422, code: 'insufficient_balance' },
  })
  expect(shown({ transfers: ALL })).toEqual({})
  expect(shown({ transfers: ALL, struck: [false] })).toEqual({})
  expect(shown({ transfers: ALL, more: [refused('r')] })).toEqual({})
  expect(shown({ transfers: ALL, code: 1 })).toEqual({ exchanges: [], money: [] })
})

describe('money', () => {
  test('that is not where it was without faults: before, expected, and as it is', () => {
    const { money: wrong } = shown({ transfers: [...ALL, 'deposit 7'] })
    expect(wrong).toEqual([usdc('alice', { expected: '12000000', is: '19000000' })])
  })

  test('that is right, of the end user whose operation went wrong', () => {
    expect(shown({ transfers: ALL, answers: { 1: LOST } }).money).toEqual([
      usdc('alice', { expected: '12000000', is: '12000000' }),
    ])
  })

  test('what was there before counts as before', () => {
    const held = money({ alice: [...ALL, 'deposit 7'] })
    const own = held.users[0]!.pools[0]!
    own.principal = String(BigInt(own.principal) + 3_000_000n)
    const run = { transfers: [...ALL, 'deposit 7'], money: held }
    expect(shown(run).money).toEqual([usdc('alice', { before: '3000000', expected: '12000000', is: '22000000' })])
  })

  test('in a pool that only one of the runs has', () => {
    const other = money({ alice: ALL })
    other.users[0]!.pools.push({ ...pool(['deposit 4']), pool_id: 'vault' })
    expect(shown({ transfers: ALL, money: other }).money).toEqual([
      { ...usdc('alice', { expected: '0', is: '4000000' }), pool_id: 'vault' },
    ])
    expect(shown({ transfers: ALL, money: money({ alice: [] }) }).money).toEqual([
      usdc('alice', { expected: '12000000', is: '0' }),
    ])
  })
})

describe('exchanges', () => {
  test('those of the operations that went wrong, in the order of arrival, and no others', () => {
    const { exchanges = [] } = shown({ transfers: [...ALL, 'deposit 7'], answers: { 2: LOST } })
    expect(exchanges).toMatchObject([{ operation: 'deposit', at_ms: 0, answer: 'connection reset', arrived: false }])
    expect(exchanges[0]?.request_body).toContain('7000000')
  })

  test('and those that a fault struck', () => {
    const faults = [{ id: 'fault-1', kind: 'latency', phase: 'on_request', explanation: 'Late.' }]
    const { exchanges = [] } = shown({ transfers: ALL, code: 1, answers: { 0: { faults } } })
    expect(exchanges.map(({ fault }) => fault)).toEqual(['latency at on_request: Late.'])
  })

  test('at most 24, those of the worst operations', () => {
    const many = Array.from({ length: 30 }, (_, i) => `deposit ${i + 10}`)
    const answers = Object.fromEntries(many.map((_, i) => [i, LOST]))
    const none = compareBaselines(seen({ transfers: many }), seen({ transfers: many }))
    const { exchanges = [] } = shown({ transfers: [...many, 'deposit 7'], answers }, none)
    expect(exchanges).toHaveLength(24)
    expect(new Set(exchanges.map(({ request_id }) => request_id)).size).toBe(24)
  })
})
