import { describe, expect, test } from 'vitest'
import type { FaultRule } from '../../src/control/contract.ts'
import type { TrialResult } from '../../src/explore/exploration.ts'
import { findTrial } from '../../src/explore/plan/find-trial.ts'
import { compareBaselines } from '../../src/explore/run/baseline.ts'
import type { Observation } from '../../src/explore/run/exploration-sandbox.ts'
import { failingSchedules, type ShrinkTerms, shrinkSchedules } from '../../src/explore/shrink/shrink-schedules.ts'
import type { Scenario } from '../../src/scenarios/scenario-schema.ts'
import { abortController } from '../../src/support/waiting.ts'
import { seen } from './observation.ts'
import { resultOf, samplePlaces } from './render/sample-exploration.ts'

const HARMS = ['deposit#1@alice reset-on-request', 'deposit#2@alice unavailable', 'list_pools#1 cut-json']
const trialOf = (id: string) => findTrial(id, samplePlaces())
const drawn = (harms: readonly string[], number = 1) => trialOf(`random-${number} of seed 7: ${harms.join(' + ')}`)
const DRAWN = drawn(HARMS)

const ALL = ['deposit 5', 'deposit 7']
const UNHARMED = seen({ transfers: ALL })

/** What a run with these faults shows; nothing may be run without it. */
type Command = (faults: readonly FaultRule[]) => Observation

/** A command that pays twice, or hangs, when all of these go wrong. */
const failing =
  (hazards: number, how: 'paid_twice' | 'hung' = 'paid_twice'): Command =>
  (faults) => {
    const struck = faults.map(() => true)
    if (faults.length < hazards) return seen({ transfers: ALL, struck })
    if (how === 'paid_twice') return seen({ transfers: [...ALL, 'deposit 7'], struck })
    const run = seen({ transfers: ALL, struck })
    return { ...run, end: { ...run.end, timedOut: true }, evidence: { ...run.evidence, end: 'hung' } }
  }

interface Case {
  planned?: readonly ReturnType<typeof trialOf>[]
  results?: readonly TrialResult[]
  /** Without one, no run may begin. */
  command?: Command
  interrupted?: boolean
}

async function shrinking({ planned = [DRAWN], results, command, interrupted = false }: Case) {
  const saved: Scenario[] = []
  let runs = 0
  const asked = abortController()
  if (interrupted) asked.abort('SIGINT')
  const terms = {
    ...{ seed: 7, clock: '2026-01-01T00:00:00Z', command: ['npm', 'test'], flags: [], timeout: 1000 },
    interruption: { asked: asked.signal, insisted: abortController().signal },
    expected: compareBaselines(UNHARMED, UNHARMED),
    sandbox: {
      run: async (_: unknown, { faults }: { faults: readonly FaultRule[] }) => {
        runs++
        return command?.(faults)
      },
    },
    mayRun: () => command !== undefined,
    save: async (scenario: Scenario) => {
      saved.push(scenario)
      return `${scenario.name}.yaml`
    },
  } as unknown as ShrinkTerms
  const shrunk = await shrinkSchedules(planned, results ?? planned.map((trial) => resultOf(trial, 'paid_twice')), terms)
  return { saved, runs, shrunk, first: shrunk[0]! }
}

const known = (outcomes: Record<string, TrialResult['outcome']>, of = DRAWN) => [
  resultOf(of, 'paid_twice'),
  ...Object.entries(outcomes).map(([id, outcome]) => resultOf(trialOf(id), outcome)),
]

describe('what is known already is not run again', () => {
  test('a schedule is not called minimal when no run may begin any more', async () => {
    const { first, runs } = await shrinking({})
    expect(first.smallest).toMatchObject({ minimal: false, file: 'explore-7-1.yaml' })
    expect(first.smallest?.harms).toHaveLength(3)
    expect(first.sentences.at(-1)).toMatch(/fewer may be/)
    const again = `yield-sandbox explore --trial '${DRAWN.id}' --seed 7 --clock 2026-01-01T00:00:00Z -- npm test`
    expect([first.repeat, runs]).toEqual([again, 0])
  })

  test('a single fault that is known to come to the same is all that is needed, and is what is run again', async () => {
    const { first, saved } = await shrinking({ results: known({ [HARMS[1]!]: 'paid_twice', [HARMS[0]!]: 'survived' }) })
    expect(first.smallest).toMatchObject({
      minimal: true,
      harms: [{ position: { ordinal: 2 }, hazard: { id: 'unavailable' } }],
    })
    expect(saved).toMatchObject([{ name: 'explore-7-1', faults: [{ kind: 'error' }] }])
    expect(first.repeat).toContain(`--trial 'random-1 of seed 7: ${HARMS[1]}' `)
  })

  test('two faults are the fewest when each part of them is known to do no harm, though no run may begin', async () => {
    const two = HARMS.slice(1)
    const parts = { [two[0]!]: 'survived', [two[1]!]: 'survived' } as const
    const { first, runs } = await shrinking({ planned: [drawn(two)], results: known(parts, drawn(two)) })
    expect(first.smallest).toMatchObject({ minimal: true, harms: [{}, {}] })
    expect(runs).toBe(0)
  })

  test('what one schedule needed a run for, the next one knows', async () => {
    const once = await shrinking({ command: failing(3) })
    expect([once.runs, once.first.smallest?.minimal]).toEqual([5, true])
    const both = await shrinking({ planned: [DRAWN, drawn(HARMS, 2)], command: failing(3) })
    expect(both.runs).toBe(once.runs)
    expect(both.saved).toHaveLength(1)
    expect(both.shrunk.map(({ smallest }) => smallest?.file)).toEqual(['explore-7-1.yaml', 'explore-7-1.yaml'])
  })
})

describe('is shrunk', () => {
  const FIVE = [...HARMS, 'deposit#3@alice reset-on-request', 'deposit#4@alice unavailable']

  test('by as many runs as it takes, unless it hangs: then by few', async () => {
    const paid = await shrinking({ planned: [drawn(FIVE)], command: failing(5) })
    expect(paid.first.smallest).toMatchObject({ minimal: true })
    expect(paid.runs).toBeGreaterThan(6)
    const results = [resultOf(drawn(FIVE), 'hung')]
    const hung = await shrinking({ planned: [drawn(FIVE)], results, command: failing(5, 'hung') })
    expect(hung.first.smallest).toMatchObject({ minimal: false })
    expect(hung.runs).toBe(6)
  })

  test('to the one fault that does it alone', async () => {
    const { first, runs } = await shrinking({
      command: (faults) => failing(faults.some(({ kind }) => kind === 'malformed_body') ? 1 : 9)(faults),
    })
    expect(first.smallest).toMatchObject({ minimal: true, harms: [{ hazard: { id: 'cut-json' } }] })
    expect(runs).toBeLessThan(5)
  })

  test('to what fails alike, not to what fails otherwise', async () => {
    const results = [resultOf(DRAWN, 'hung')]
    const { first } = await shrinking({ results, command: failing(1) })
    expect(first.smallest?.harms).toHaveLength(3)
  })

  test('from those of its faults that struck', async () => {
    const struck = resultOf(DRAWN, 'paid_twice', { trial: trialOf(HARMS.slice(1).join(' + ')) })
    const results = [{ ...struck, trial: { ...struck.trial, id: DRAWN.id } }]
    const { first } = await shrinking({ results })
    expect(first.smallest?.harms.map(({ hazard }) => hazard.id)).toEqual(['unavailable', 'cut-json'])
  })

  test('only when it is a random schedule that failed', async () => {
    const [single, survived, untried] = [trialOf(HARMS[0]!), drawn(HARMS, 2), drawn(HARMS, 3)]
    const planned = [single, survived, untried, DRAWN]
    const results = [
      resultOf(single, 'paid_twice'),
      resultOf(survived, 'survived'),
      resultOf(DRAWN, 'paid_twice', { level: 'serious' }),
    ]
    const { shrunk, saved } = await shrinking({ planned, results })
    expect(shrunk.map(({ smallest }) => smallest !== undefined)).toEqual([false, false, true])
    expect(saved).toHaveLength(1)
    expect(failingSchedules(planned, results)).toBe(1)
  })

  test('not any more when it was interrupted', async () => {
    const { saved, shrunk } = await shrinking({ interrupted: true })
    expect([saved, shrunk[0]?.smallest]).toEqual([[], undefined])
  })
})
