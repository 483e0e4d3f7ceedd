import { describe, expect, test } from 'vitest'
import type { ReachedPlace } from '../../src/explore/exploration.ts'
import { type AskedAnyway, countPairs, furtherPlaces, planPairs } from '../../src/explore/plan/pairs.ts'
import { planTrials } from '../../src/explore/plan/plan.ts'
import { placesOf, positionName } from '../../src/explore/plan/positions.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'
import { seen } from './observation.ts'
import { resultOf } from './render/sample-exploration.ts'

const stable = new Set(['alice'])
const ask = (...operations: NonNullable<ExchangeParts['operation']>[]) =>
  operations.map((operation, i) => {
    const external_id = operation === 'list_pools' ? null : 'alice'
    return exchange({ operation, external_id, number: i + 1, idempotency: null })
  })

const UNHARMED = ask('list_pools', 'deposit', 'deposit', 'list_transactions')
const anyway: AskedAnyway = { stable, places: placesOf(UNHARMED, stable), again: [] }
const WISH = { kinds: [], operations: [] } as const
const named = (places: readonly ReachedPlace[]) => places.map(({ position }) => positionName(position))

function trial(id: string, crash = false) {
  const found = planTrials(anyway.places, { ...WISH, crash }).find((one) => one.id === id)
  if (!found) throw new Error(`there is no trial ${id}`)
  return found
}

describe('a fault leads on to', () => {
  const ledTo = (exchanges: typeof UNHARMED, id = 'deposit#1@alice close-on-request') =>
    named(furtherPlaces(trial(id).harms, seen({ transfers: [], evidence: evidenceOf(exchanges) }), anyway))

  test('nothing where the client asks the same as without it', () => {
    expect(ledTo(UNHARMED)).toEqual([])
    expect(ledTo(ask('list_pools', 'deposit'))).toEqual([])
  })

  test('the retry, which is the next request of the kind', () => {
    expect(ledTo(ask('list_pools', 'deposit', 'deposit', 'deposit', 'list_transactions'))).toEqual(['deposit#2@alice'])
  })

  test('a look that the client takes because of it, and the retry', () => {
    const asked = ask('list_pools', 'deposit', 'list_transactions', 'deposit', 'deposit', 'list_transactions')
    expect(ledTo(asked)).toEqual(['list_transactions#1@alice', 'deposit#2@alice'])
  })

  test('requests after it alone', () => {
    const asked = ask('list_pools', 'list_pools', 'deposit', 'deposit', 'list_transactions')
    expect(ledTo(asked)).toEqual([])
    expect(ledTo(asked, 'list_pools#1 close-on-request')).toEqual(['list_pools#2'])
  })
})

describe('a kill leads on to', () => {
  const again = ask('list_pools', 'list_transactions')
  const ledTo = (exchanges: typeof UNHARMED, killedAt: number, id = 'deposit#1@alice killed-on-request') => {
    const crash = { killed: [true], killedAt, starts: [killedAt], recovers: false }
    const observed = seen({ transfers: [], evidence: evidenceOf(exchanges), crash })
    return named(furtherPlaces(trial(id, true).harms, observed, { ...anyway, again }))
  }

  test('every request of the restarted command', () => {
    const asked = ask('list_pools', 'deposit', 'list_pools', 'deposit', 'list_transactions')
    expect(ledTo(asked, 2)).toEqual(['list_pools#2', 'deposit#2@alice', 'list_transactions#1@alice'])
  })

  test('nothing where the restarted command asks the same as when there is nothing to do', () => {
    expect(ledTo(ask('list_pools', 'deposit', 'list_pools', 'list_transactions'), 2)).toEqual([])
  })

  test('nothing where the restarted command asks the same as one that was never killed', () => {
    const asked = ask('list_pools', ...UNHARMED.flatMap(({ operation }) => operation ?? []))
    expect(ledTo(asked, 1, 'list_pools#1 killed-on-request')).toEqual([])
  })

  test('nothing where the moment of the kill was chance', () => {
    const asked = [...UNHARMED, ...ask('list_pools', 'deposit').map((one) => ({ ...one, number: one.number + 4 }))]
    expect(ledTo(asked, 4, 'list_transactions#1@alice killed-2ms-after-the-last-answer')).toEqual([])
  })
})

describe('pairs', () => {
  const later: ReachedPlace = {
    position: { ...anyway.places[1]!.position, ordinal: 3 },
    transferred: true,
    has_cursor: false,
  }
  const pairsOf = (id: string, crash = false, further: ReachedPlace[] = [later]) =>
    planPairs([resultOf(trial(id, crash), 'survived', { further })], { ...WISH, crash }).map((one) => one.id)

  test('are of a fault and each fault that fits a request that it led to', () => {
    const pairs = pairsOf('deposit#1@alice close-on-request')
    expect(pairs).toContain('deposit#1@alice close-on-request + deposit#3@alice reset-after-broadcast')
    expect(pairs.every((id) => id.startsWith('deposit#1@alice close-on-request + deposit#3@alice '))).toBe(true)
    expect(pairs.some((id) => /killed|hang|stuck/.test(id))).toBe(false)
    const untransferred = pairsOf('deposit#1@alice close-on-request', false, [{ ...later, transferred: false }])
    expect(untransferred.some((id) => id.endsWith('after-broadcast'))).toBe(false)
  })

  test('are of a kill and each kill, none of them by chance', () => {
    const kills = ['under-way', 'unanswered', 'on-request'].map(
      (point) => `deposit#1@alice killed-on-request + deposit#3@alice killed-${point}`,
    )
    expect(pairsOf('deposit#1@alice killed-on-request', true)).toEqual(kills)
  })

  test('are none where the first strike led to nothing', () => {
    expect(pairsOf('deposit#1@alice close-on-request', false, [])).toEqual([])
  })

  test('are counted without guidance: kills with all kills, faults with those at the same request and later ones', () => {
    // Killed on request everywhere, and at two deposits when they are done and not answered.
    expect(countPairs(anyway.places, { ...WISH, crash: true })).toBe(6 ** 2)
    // Reset on request at four requests.
    expect(countPairs(anyway.places, { ...WISH, kinds: ['reset-on-request'] })).toBe(4 + 3 + 2 + 1)
  })
})
