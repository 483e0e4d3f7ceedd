import { expect, test } from 'vitest'
import { mergeFindings, type ScenarioFindings } from '../../src/certify/certify.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'

type Outcome = ScenarioFindings['findings'][number]['outcome']

const merged = (...outcomes: Outcome[]) =>
  mergeFindings(
    outcomes.map((outcome, i) => ({ name: `scenario-${i}`, findings: [{ id: 'retry-after', outcome }] })),
  ).find(({ id }) => id === 'retry-after')

test('every finding is there once, in the order of reports', () => {
  expect(mergeFindings([]).map(({ id }) => id)).toEqual(FINDING_IDS)
})

test('contradicted anywhere is contradicted, by the scenarios that contradict it', () => {
  expect(merged('passed', 'failed', 'not_exercised', 'failed')).toEqual({
    id: 'retry-after',
    outcome: 'contradicted',
    ...{ contradicted_in: ['scenario-1', 'scenario-3'], proved_in: ['scenario-0'], review_in: [] },
  })
})

test('a scenario has many findings, and each counts for itself', () => {
  const findings = [
    { id: 'retry-after', outcome: 'failed' },
    { id: 'polling-pace', outcome: 'passed' },
  ] as const
  const all = mergeFindings([{ name: 'own', findings }])
  const of = (wanted: string) => all.find(({ id }) => id === wanted)
  expect(of('retry-after')).toMatchObject({ outcome: 'contradicted', contradicted_in: ['own'], proved_in: [] })
  expect(of('polling-pace')).toMatchObject({ outcome: 'proved', contradicted_in: [], proved_in: ['own'] })
})

test('broken once and kept once is broken, and so it is when it was kept more often', () => {
  expect(merged('failed', 'passed')).toMatchObject({ outcome: 'contradicted' })
  expect(merged('passed', 'passed', 'failed')).toMatchObject({ outcome: 'contradicted' })
})

test('proved anywhere is proved, if nothing contradicts it', () => {
  expect(merged('not_exercised', 'passed', 'needs_review')).toMatchObject({
    outcome: 'proved',
    ...{ contradicted_in: [], proved_in: ['scenario-1'], review_in: ['scenario-2'] },
  })
})

test.each(['not_exercised', 'needs_review', 'errored'] as const)(
  '%s alone is unproved, shown by nothing',
  (outcome) => {
    const review_in = outcome === 'not_exercised' ? [] : ['scenario-0']
    expect(merged(outcome)).toMatchObject({ outcome: 'unproved', contradicted_in: [], proved_in: [], review_in })
  },
)
