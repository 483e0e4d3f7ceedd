import { describe, expect, test } from 'vitest'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { outcomeOf, readRecording } from './clients/recording.ts'
import { mistakes } from './clients/wrong-clients.ts'
import { wrongWith } from './clients/wrong-with.ts'

// Judged from what was recorded of them. matrix.long.test.ts runs them, and compares; `npm run record:clients` records them anew.
describe('a wrong client fails its own finding and no other', () => {
  test.each(mistakes.map(({ id, finding }) => [id, finding] as const))('%s', async (id, finding) => {
    expect(wrongWith({ finding, trial: {} }, await outcomeOf(readRecording(id)))).toEqual([])
  })
})

/** Waits for most of a minute: `npm run test:matrix` does it. */
const SLOW = 'slow-confirmation'
const quick = (await shippedScenarios()).map(({ name }) => name).filter((name) => name !== SLOW)
const right = [...quick.map((scenario) => ['typescript', scenario]), ['shell', 'dropped-deposit']] as [string, string][]

describe('the reference clients pass', () => {
  test.each(right)('%s, %s', async (client, scenario) => {
    const outcome = await outcomeOf(readRecording(`${client}, ${scenario}`))
    expect(wrongWith({ finding: undefined, trial: { scenario } }, outcome)).toEqual([])
  })
})
