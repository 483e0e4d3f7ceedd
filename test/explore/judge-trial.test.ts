import { describe, expect, test } from 'vitest'
import type { TrialOutcome } from '../../src/explore/exploration.ts'
import { judgeTrial } from '../../src/explore/judge/judge-trial.ts'
import { ownedMoney } from '../../src/explore/judge/owned-money.ts'
import { compareBaselines } from '../../src/explore/run/baseline.ts'
import type { Observation } from '../../src/explore/run/exploration-sandbox.ts'
import { exitCodeOf, summaryOf } from '../../src/explore/summary.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'
import { money } from './money.ts'

interface Seen extends Partial<Observation> {
  code?: number
  /** Transfers of alice. */
  transfers: readonly string[]
  /** Whether she was told of all of them. */
  told?: boolean
}

function seen({ code = 0, transfers, told = true, ...rest }: Seen): Observation {
  const own = money({ alice: transfers })
  const answered = own.users[0]?.pools[0]?.transfers.map(
    ({ type, transaction_id, tx_hash, amount_minor }): ExchangeParts => {
      const transfer = { type, transaction_id, tx_hash, amount_minor, portfolio_id: 'p' }
      return { transfer, end: told ? 'answered' : 'dropped' }
    },
  )
  return {
    before: undefined,
    end: { code, signal: null, timedOut: false, leftBehind: [] },
    took: 100,
    overhead: 10,
    exchanges: [exchange({ operation: 'list_portfolios' }), ...(answered ?? []).map(exchange)],
    money: own,
    unsettled: 0,
    audit: { ok: true, checks: [] },
    report: { findings: [] } as unknown as Observation['report'],
    struck: [true],
    ...rest,
  }
}

const wanted = seen({ transfers: ['deposit 5', 'deposit 7'] })
const stable = new Set(['alice'])
const expected = { money: [ownedMoney(wanted.money, wanted.exchanges, stable)], stable }
const outcomeOf = (run: Seen) => judgeTrial(seen(run), expected).outcome
const ALL = ['deposit 5', 'deposit 7']

describe('a trial', () => {
  test.each<[string, Seen, TrialOutcome]>([
    ['same money, tests pass', { transfers: ALL }, 'survived'],
    ['same money, tests fail', { transfers: ALL, code: 1 }, 'gave_up_safely'],
    ['stopped early, and knows of all it did', { transfers: ['deposit 5'], code: 1 }, 'gave_up_safely'],
    ['stopped at the first list', { transfers: [], code: 1 }, 'gave_up_safely'],
    ['stopped, and does not know of a deposit', { transfers: ['deposit 5'], told: false, code: 1 }, 'noticed_too_late'],
    ['went on after a lost deposit', { transfers: ['deposit 7'], code: 1 }, 'noticed_too_late'],
    ['paid twice, tests fail', { transfers: [...ALL, 'deposit 7'], code: 1 }, 'noticed_too_late'],
    ['paid twice, tests pass', { transfers: [...ALL, 'deposit 7'] }, 'silently_wrong'],
    ['lost a deposit, tests pass', { transfers: ['deposit 5'] }, 'silently_wrong'],
    ['never ended', { transfers: ALL, end: { code: null, signal: 'SIGTERM', timedOut: true, leftBehind: [] } }, 'hung'],
    ['the fault never struck', { transfers: ALL, struck: [false] }, 'not_exercised'],
    ['one of two never struck', { transfers: ALL, struck: [true, false] }, 'not_exercised'],
    [
      'the audit fails',
      { transfers: ALL, audit: { ok: false, checks: [{ id: 'shares', ok: false, detail: '1 wrong' }] } },
      'errored',
    ],
    ['money still on its way', { transfers: ALL, unsettled: 1 }, 'errored'],
  ])('%s', (_, run, outcome) => {
    expect(outcomeOf(run)).toBe(outcome)
  })

  test('says what happened to whose money', () => {
    expect(judgeTrial(seen({ transfers: [...ALL, 'deposit 7'] }), expected).sentences).toEqual([
      'alice: 19.00 USDC in aave-usdc instead of 12.00 (deposit of 7.00: twice instead of once)',
    ])
  })

  test('a transfer that the list showed is known', () => {
    const run = seen({ transfers: ['deposit 5'], told: false, code: 1 })
    const hash = run.money.users[0]?.pools[0]?.transfers[0]?.tx_hash
    const listed = exchange({
      operation: 'list_transactions',
      response: { body: JSON.stringify({ data: [{ tx_hash: hash }] }) },
    })
    expect(judgeTrial({ ...run, exchanges: [...run.exchanges, listed] }, expected).outcome).toBe('gave_up_safely')
  })
})

describe('two runs without faults', () => {
  const run = (transfers: readonly string[], more: ExchangeParts[] = []) => {
    const one = seen({ transfers })
    return { ...one, exchanges: [...one.exchanges, ...more.map(exchange)] }
  }

  test('alike: every place is one, and the names that both have are lasting', () => {
    const { difference, places, stable: names } = compareBaselines(run(ALL), run(ALL))
    expect([difference, places.length, [...names]]).toEqual([undefined, 3, ['alice']])
  })

  test('with other money', () => {
    expect(compareBaselines(run(ALL), run(['deposit 5'])).difference).toMatch(/^alice: 5\.00 USDC/)
  })

  test('with one request more, or another answer', () => {
    const poll: ExchangeParts = { operation: 'list_transactions' }
    expect(compareBaselines(run(ALL), run(ALL, [poll])).difference).toBe(
      'list_transactions#1@alice is in the second run only',
    )
    expect(compareBaselines(run(ALL, [poll]), run(ALL)).difference).toBe(
      'list_transactions#1@alice is in the first run only',
    )
    const refused: ExchangeParts = { ...poll, response: { status: 404, code: 'not_found' } }
    expect(compareBaselines(run(ALL, [poll]), run(ALL, [refused])).difference).toBe(
      'list_transactions#1@alice was answered 200 in the first run and 404 not_found in the second',
    )
  })

  test('have only those places in common that both have', () => {
    const poll: ExchangeParts = { operation: 'list_transactions' }
    expect(compareBaselines(run(ALL, [poll]), run(ALL)).places).toHaveLength(3)
  })
})

test.each<[TrialOutcome[], string, number]>([
  [['survived', 'gave_up_safely'], 'passed', 0],
  [['survived', 'silently_wrong'], 'failed', 3],
  [['survived', 'noticed_too_late'], 'failed', 3],
  [['hung'], 'failed', 3],
  [['not_exercised'], 'inconclusive', 4],
  [[], 'inconclusive', 4],
])('%s is %s, exit code %i', (outcomes, verdict, code) => {
  const results = outcomes.map((outcome) => ({ outcome })) as Parameters<typeof summaryOf>[0]['results']
  expect([summaryOf({ results }).verdict, exitCodeOf({ results, untried: null })]).toEqual([verdict, code])
})
