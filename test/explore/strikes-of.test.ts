import { expect, test } from 'vitest'
import type { RunTrace } from '../../src/exec/sandbox-run.ts'
import { strikesOf } from '../../src/explore/shrink/shrink-run.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

const by = (id: string) => ({ id, kind: 'error', phase: 'on_request', explanation: 'It is answered 503.' }) as const

const RULES = [
  { id: 'fault-1', kind: 'error', phase: 'before_broadcast', with: { status: 503 } },
  { id: 'fault-2', kind: 'revert' },
] as unknown as RunTrace['rules']

const strikesIn = (exchanges: readonly ExchangeParts[]) =>
  strikesOf({ exchanges: exchanges.map(exchange), rules: RULES, endUsers: ['alice'] })

test('each request that was struck is a strike, at its place, with the rule that struck it and without its chance', () => {
  const strikes = strikesIn([
    { operation: null, faults: [by('fault-1')] },
    { operation: 'list_pools', external_id: null },
    { operation: 'deposit', faults: [by('fault-1')] },
    { operation: 'deposit', external_id: 'u-77', faults: [by('fault-2')] },
    { operation: 'deposit', faults: [by('fault-2')] },
  ])
  const place = { operation: 'deposit', tenant: null, external_id: 'alice', end_user: 1 }
  expect(strikes).toEqual([
    {
      position: { ...place, ordinal: 1 },
      hazard: {
        id: 'error-before_broadcast',
        title: 'error (before broadcast)',
        rule: { kind: 'error', phase: 'before_broadcast', with: { status: 503 } },
      },
    },
    {
      position: { ...place, external_id: null, end_user: 2, ordinal: 1 },
      hazard: { id: 'revert-undefined', title: 'revert', rule: { kind: 'revert', phase: undefined } },
    },
    {
      position: { ...place, ordinal: 2 },
      hazard: { id: 'revert-undefined', title: 'revert', rule: { kind: 'revert', phase: undefined } },
    },
  ])
  expect(Object.keys(strikes[1]!.hazard.rule!)).toEqual(['kind', 'phase'])
})

test('a fault that a request brought along in its header is none of them', () => {
  expect(strikesIn([{ operation: 'deposit', faults: [by('header-1')] }, { operation: 'withdraw' }])).toEqual([])
})
