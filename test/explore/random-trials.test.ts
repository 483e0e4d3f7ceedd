import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/domain/operations.ts'
import { randomTrials } from '../../src/explore/plan/plan.ts'
import { type Place, positionName } from '../../src/explore/plan/positions.ts'

function placeOf(operation: Operation, ordinal: number): Place {
  const ofUser = operation !== 'token' && operation !== 'list_pools'
  return {
    position: {
      operation,
      tenant: null,
      external_id: ofUser ? 'alice' : null,
      end_user: ofUser ? 1 : null,
      ordinal,
    },
    transferred: operation === 'deposit',
    has_cursor: false,
    answer: '200',
  }
}

const PLACES = [
  placeOf('token', 1),
  placeOf('list_pools', 1),
  placeOf('list_portfolios', 1),
  placeOf('deposit', 1),
  placeOf('deposit', 2),
  placeOf('list_transactions', 1),
]
const WISH = { count: 200, seed: 7, kinds: [], operations: [] }
const namesOf = (trial: ReturnType<typeof randomTrials>[number]) =>
  trial.harms.map(({ position }) => positionName(position))

describe('random schedules', () => {
  test('are the same for the same seed, and others for another one', () => {
    const ids = (seed: number) => randomTrials(PLACES, { ...WISH, seed }).map(({ id }) => id.replace(/^.*?: /, ''))
    expect(ids(7)).toEqual(ids(7))
    expect(ids(8)).not.toEqual(ids(7))
    expect(randomTrials(PLACES, { ...WISH, count: 5 })).toEqual(randomTrials(PLACES, WISH).slice(0, 5))
  })

  test('have two to five faults that fit where they are, each at a place of its own, and no waits', () => {
    const trials = randomTrials(PLACES, WISH)
    expect(trials).toHaveLength(200)
    expect(new Set(trials.map(({ id }) => id)).size).toBe(200)
    expect(new Set(trials.map(({ harms }) => harms.length))).toEqual(new Set([2, 3, 4, 5]))
    for (const trial of trials) {
      expect(new Set(namesOf(trial)).size).toBe(trial.harms.length)
      for (const { position, hazard } of trial.harms) {
        const place = PLACES.find((one) => one.position.operation === position.operation)!
        expect(hazard.fits(place)).toBe(true)
        expect(hazard.urgency).not.toBe('wait')
      }
    }
  })

  test('have their faults in the order of the places, a retry after what it repeats', () => {
    const order = [...PLACES.map(({ position }) => positionName(position)), 'beyond']
    const rankOf = (name: string) => {
      const [operation = ''] = name.split('#')
      const known = order.indexOf(name)
      return known < 0 ? order.findLastIndex((one) => one.startsWith(`${operation}#`)) + 0.5 : known
    }
    for (const trial of randomTrials(PLACES, WISH)) {
      const ranks = namesOf(trial).map(rankOf)
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
    }
  })

  test('hit the retry as well in about one of four', () => {
    const trials = randomTrials(PLACES, { ...WISH, operations: ['token', 'list_pools', 'list_portfolios'] })
    const hit = (ordinal: number) =>
      trials.flatMap((trial) => namesOf(trial).filter((name) => name.includes(`#${ordinal}`))).length
    const share = hit(2) / hit(1)
    expect(share).toBeGreaterThan(0.1)
    expect(share).toBeLessThan(0.4)
  })

  test('leave out a place where nothing fits', () => {
    const trials = randomTrials(PLACES, { ...WISH, kinds: ['revert'] })
    expect(trials.flatMap(({ harms }) => harms.map(({ hazard }) => hazard.id))).not.toContain(undefined)
    expect(trials.map(namesOf)).toContainEqual(['deposit#1@alice', 'deposit#2@alice'])
  })

  test('reach the retry of what is harmed, and nothing else that no request came to', () => {
    const known = new Set(PLACES.map(({ position }) => positionName(position)))
    const beyond = randomTrials(PLACES, WISH).flatMap((trial) => namesOf(trial).filter((name) => !known.has(name)))
    expect(new Set(beyond)).toContain('deposit#3@alice')
    for (const name of beyond) expect(name).toMatch(/#[23](@alice)?$/)
  })

  test('wait only where that is asked for', () => {
    const trials = randomTrials(PLACES, { ...WISH, kinds: ['hang', 'latency'] })
    expect(new Set(trials.flatMap(({ harms }) => harms.map(({ hazard }) => hazard.rule?.kind)))).toEqual(
      new Set(['hang', 'latency']),
    )
  })

  test('are at the operations asked for', () => {
    const trials = randomTrials(PLACES, { ...WISH, operations: ['deposit'] })
    expect(trials.length).toBeGreaterThan(20)
    for (const trial of trials) for (const name of namesOf(trial)) expect(name).toMatch(/^deposit#/)
  })

  test('are as many as there are different ones', () => {
    const few = randomTrials([placeOf('token', 1)], { ...WISH, kinds: ['token_endpoint_error'] })
    expect(few.map(({ id }) => id)).toEqual([
      'random-1 of seed 7: token#1 token-endpoint-unavailable + token#2 token-endpoint-unavailable',
    ])
    expect(randomTrials([], WISH)).toEqual([])
  })
})
