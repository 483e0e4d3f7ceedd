import { describe, expect, test } from 'vitest'
import { findTrial } from '../../src/explore/plan/find-trial.ts'
import { planPairs } from '../../src/explore/plan/pairs.ts'
import { type PlannedTrial, planTrials, randomTrials, withoutPlan } from '../../src/explore/plan/plan.ts'
import { KINDS } from '../../src/faults/kinds/index.ts'
import { OptionError } from '../../src/option-error.ts'
import { resultOf, samplePlaces } from './render/sample-exploration.ts'

const places = samplePlaces()
const all = { kinds: [], operations: [] } as const

describe('the trial that an id names', () => {
  test.each(['alice', 'o + p', 'a reset-on-request', 'x: y\nz', 'deposit#1@alice'])(
    'is that of the plan, of pairs as well, for an end user called %j',
    (user) => {
      const own = samplePlaces(user)
      const single = planTrials(own, { ...all, crash: true, kinds: KINDS.map(({ kind }) => kind) })
      const later = { transferred: true, has_cursor: false, position: { ...own[1]!.position, ordinal: 7 } }
      const further = (trial: PlannedTrial) => resultOf(trial, 'survived', { further: [later] })
      const pairs = planPairs(single.map(further), { ...all, crash: true, kinds: KINDS.map(({ kind }) => kind) })
      for (const trial of [...single, ...pairs]) expect(findTrial(trial.id, own)).toEqual(trial)
      expect(single.some(({ id }) => id.endsWith('killed-under-way'))).toBe(true)
      expect(pairs.length).toBeGreaterThan(1000)
    },
  )

  test('is a random schedule, or what is left of one', () => {
    for (const trial of randomTrials(places, { ...all, seed: 7, count: 50 })) {
      expect(findTrial(trial.id, places)).toEqual(trial)
      expect(findTrial(trial.id, places).drawn).toBe(true)
    }
    const { id, harms, drawn } = findTrial('random-3 of seed 7: deposit#4@alice revert', places)
    expect({ id, drawn }).toEqual({ id: 'random-3 of seed 7: deposit#4@alice revert', drawn: true })
    expect(harms.map(({ position }) => position.ordinal)).toEqual([4])
    expect(findTrial('deposit#12@alice revert', places).harms[0]?.position.ordinal).toBe(12)
  })

  test('may make sense at a later request alone', () => {
    const [first] = places
    const second = { ...first!, position: { ...first!.position, ordinal: 2 }, has_cursor: true }
    expect(findTrial('list_pools#2 expired-cursor', [first!, second]).harms).toHaveLength(1)
  })

  test('may be one that is tried only where it is named', () => {
    const trial = findTrial('list_pools#1 answer-after-59s', places)
    expect(withoutPlan(trial).harms[0]?.hazard.rule).toMatchObject({ with: { delay: '59s' } })
  })

  test.each([
    [
      'deposit#1@alice reset-after-brodcast',
      /"reset-after-brodcast" is no fault; did you mean "reset-after-broadcast"\?$/,
    ],
    [
      'deposit#1@alise revert',
      /no request of the command comes to "deposit#1@alise"; did you mean "deposit#1@alice"\?$/,
    ],
    ['list_pools#1 revert', /revert makes no sense there; use one of killed-on-request, reset-on-request, /],
    ['deposit#0@alice revert', /no request of the command comes to "deposit#0@alice"/],
    ['deposit#1@alice revert + withdraw#1@alice revert', /comes to "withdraw#1@alice"/],
    ['deposit#1@alice', /is no fault/],
    ['deposit revert', /no request of the command comes to "deposit"/],
    ['random-1 of seed 7: ', /it names no fault/],
    ['', /it names no fault/],
  ])('says of %j what is wrong, and the nearest that is right', (id, message) => {
    expect(() => findTrial(id, places)).toThrow(OptionError)
    expect(() => findTrial(id, places)).toThrow(message)
    expect(() => findTrial(id, places)).toThrow(`--trial "${id}": `)
  })
})
