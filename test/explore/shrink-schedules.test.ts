import { expect, test } from 'vitest'
import type { TrialResult } from '../../src/explore/exploration.ts'
import { findTrial } from '../../src/explore/plan/find-trial.ts'
import { type ShrinkTerms, shrinkSchedules } from '../../src/explore/shrink/shrink-schedules.ts'
import type { Scenario } from '../../src/scenarios/scenario-schema.ts'
import { abortController } from '../../src/support/abort-controller.ts'
import { resultOf, samplePlaces } from './render/sample-exploration.ts'

const HARMS = ['deposit#1@alice reset-on-request', 'deposit#2@alice unavailable', 'list_pools#1 cut-json']
const trialOf = (id: string) => findTrial(id, samplePlaces())
const DRAWN = trialOf(`random-1 of seed 7: ${HARMS.join(' + ')}`)

/** Shrinks the drawn schedule when these schedules are known, and no run may begin. */
async function shrinking(known: Record<string, TrialResult['outcome']>) {
  const saved: Scenario[] = []
  const terms = {
    seed: 7,
    clock: '2026-01-01T00:00:00Z',
    command: ['npm', 'test'],
    flags: [],
    interruption: { asked: abortController().signal, insisted: abortController().signal },
    mayRun: () => false,
    save: async (scenario: Scenario) => {
      saved.push(scenario)
      return `${scenario.name}.yaml`
    },
  } as unknown as ShrinkTerms
  const results = [
    resultOf(DRAWN, 'paid_twice'),
    ...Object.entries(known).map(([id, outcome]) => resultOf(trialOf(id), outcome)),
  ]
  const [first] = await shrinkSchedules([DRAWN], results, terms)
  return { saved, ...first! }
}

test('a schedule is not called minimal when no run may begin any more', async () => {
  const { smallest, sentences, repeat } = await shrinking({})
  expect(smallest).toMatchObject({ minimal: false, file: 'explore-7-1.yaml' })
  expect(smallest?.harms).toHaveLength(3)
  expect(sentences.at(-1)).toMatch(/fewer may be/)
  expect(repeat).toBe(`yield-sandbox explore --trial '${DRAWN.id}' --seed 7 --clock 2026-01-01T00:00:00Z -- npm test`)
})

test('a single fault that is known to come to the same is all that is needed, and is what is run again', async () => {
  const { smallest, saved, repeat } = await shrinking({ [HARMS[1]!]: 'paid_twice', [HARMS[0]!]: 'survived' })
  expect(smallest).toMatchObject({
    minimal: true,
    harms: [{ position: { ordinal: 2 }, hazard: { id: 'unavailable' } }],
  })
  expect(saved).toMatchObject([{ name: 'explore-7-1', faults: [{ kind: 'error' }] }])
  expect(repeat).toContain(`--trial 'random-1 of seed 7: ${HARMS[1]}' `)
})
