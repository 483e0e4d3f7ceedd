import { describe, expect, test } from 'vitest'
import { findTrial } from '../../src/explore/plan/find-trial.ts'
import { planTrials } from '../../src/explore/plan/plan.ts'
import { placesOf } from '../../src/explore/plan/positions.ts'
import { barrierOf } from '../../src/explore/twins/twin-points.ts'
import type { CausedTransfer } from '../../src/traffic/recorded-exchange.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

const key = { key: 'k', use: 'first' } as const
const transfer: CausedTransfer = {
  ...{ type: 'deposit', transaction_id: 'tx', tx_hash: '0x1', portfolio_id: 'p', amount_minor: '1' },
  ...{ shown_by: null, steps: [] },
}
const TOKEN: ExchangeParts = { operation: 'token', external_id: null }
const PORTFOLIO: ExchangeParts = { operation: 'create_portfolio', idempotency: key }
const DEPOSIT: ExchangeParts = { operation: 'deposit', idempotency: key, transfer }
const REFUSED: ExchangeParts = { operation: 'deposit', idempotency: key }
const LIST: ExchangeParts = { operation: 'list_transactions' }

const places = (...run: ExchangeParts[]) => placesOf(run.map(exchange), new Set(['alice']))
const WISH = { kinds: [], operations: [], depth: 1, twins: true } as const
const RUN = places(TOKEN, PORTFOLIO, REFUSED, DEPOSIT, LIST)

describe('--twins', () => {
  test('tries a second process at each write, and five starts at once', () => {
    expect(planTrials(RUN, WISH).map(({ id }) => id)).toEqual([
      'create_portfolio#1@alice twin-while-held-on-request',
      'create_portfolio#1@alice twin-while-unanswered',
      'deposit#1@alice twin-while-held-on-request',
      'deposit#1@alice twin-while-unanswered',
      'deposit#2@alice twin-while-held-on-request',
      'deposit#2@alice twin-while-under-way',
      'deposit#2@alice twin-while-unanswered',
      ...[1, 2, 3, 4, 5].map((n) => `deposit#2@alice twins-at-once-${n}`),
    ])
  })

  test.each<[string, object, string[]]>([
    [
      'only at some operations',
      { operations: ['create_portfolio'] },
      ['twin-while-held-on-request', 'twin-while-unanswered'],
    ],
    ['only those that are named', { kinds: ['twins-at-once-2'] }, ['twins-at-once-2']],
    ['named without the flag', { twins: false, kinds: ['twin-while-under-way'] }, ['twin-while-under-way']],
  ])('%s', (_, wish, expected) => {
    const trials = planTrials(RUN, { ...WISH, ...wish })
    expect(trials.map(({ harms: [harm] }) => harm?.hazard.id)).toEqual(expected)
  })

  test('comes beside faults only where --faults names some, and beside crashes', () => {
    const idsOf = (wish: object) => new Set(planTrials(RUN, { ...WISH, ...wish }).map(({ id }) => id.split(' ')[1]))
    expect(idsOf({ kinds: ['revert'] })).toContain('revert')
    expect(idsOf({ kinds: ['revert'] })).toContain('twins-at-once-1')
    expect(idsOf({})).not.toContain('revert')
    expect(idsOf({ crash: true })).toContain('killed-under-way')
    expect(idsOf({ twins: undefined })).not.toContain('twins-at-once-1')
  })

  test('has nothing to try in a run that writes nothing', () => {
    expect(planTrials(places(TOKEN, LIST), WISH)).toEqual([])
  })
})

test.each([
  ['the request before the first transfer', places(TOKEN, LIST, PORTFOLIO, DEPOSIT), 'create_portfolio 1'],
  ['counted among all of its operation', places(TOKEN, LIST, LIST, DEPOSIT, LIST), 'list_transactions 2'],
  ['that before the first portfolio, without a transfer', places(TOKEN, LIST, PORTFOLIO, LIST), 'list_transactions 1'],
  ['the transfer itself, where nothing comes before it', places(DEPOSIT, DEPOSIT), 'deposit 1'],
  ['nowhere, without a write', places(TOKEN, LIST), undefined],
])('the barrier is %s', (_, run, expected) => {
  const barrier = barrierOf(run)
  expect(barrier && `${barrier.operation} ${barrier.ordinal}`).toBe(expected)
})

describe('--trial', () => {
  test('finds a twin', () => {
    const { harms } = findTrial('deposit#2@alice twin-while-under-way', RUN)
    expect(harms).toMatchObject([{ position: { ordinal: 2 }, hazard: { id: 'twin-while-under-way' } }])
  })

  test.each([
    ['create_portfolio#1@alice twin-while-under-way', /twin-while-under-way makes no sense there/],
    ['deposit#2@alice twin-while-underway', /did you mean "twin-while-under-way"/],
    [
      'deposit#2@alice twin-while-under-way + deposit#2@alice revert',
      /a second process goes with no other harm: name it alone/,
    ],
  ])('refuses %s', (id, sentence) => {
    expect(() => findTrial(id, RUN)).toThrow(sentence)
  })
})
