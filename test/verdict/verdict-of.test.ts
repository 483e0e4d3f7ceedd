import { describe, expect, test } from 'vitest'
import type { ReportedFinding } from '../../src/verdict/report.ts'
import { failuresOf, type Grounds, verdictOf } from '../../src/verdict/verdict-of.ts'

const found = (outcome: ReportedFinding['outcome'], parts: Partial<ReportedFinding> = {}): ReportedFinding => ({
  ...{ id: 'retry-after', title: 'Retry-After is kept', outcome, impact: 'serious', rule: 'Rule' },
  ...{ explanation: 'Because.', consequence: 'None.', required: false, request_ids: [] },
  ...parts,
})

/** Of a client that asked for pools. */
const grounds = (parts: Partial<Grounds> = {}): Grounds => ({
  findings: [found('passed')],
  configuration: [],
  operations: [],
  coverage: { operations: [{ id: 'list_pools', exercised: true, count: 1 }], errors: [], faults: [] },
  traffic: {},
  reasons: [],
  ...parts,
})

describe('the sentence of a verdict', () => {
  test('counts the rules that were kept, and no others', () => {
    const findings = [found('passed'), found('not_exercised'), found('passed')]
    expect(verdictOf(grounds({ findings })).summary).toBe('Passed: 2 rules kept, none broken.')
  })

  test('loses the full stop at its end alone', () => {
    const reasons = ['npm was not done after 1.5 s: ended.', 'Another.']
    expect(verdictOf(grounds({ reasons })).summary).toBe(
      'Inconclusive: npm was not done after 1.5 s: ended (and 1 more).',
    )
  })

  test('leaves names as they are', () => {
    const summaryOf = (reason: string) => verdictOf(grounds({ reasons: [reason] })).summary
    expect(summaryOf('YIELD_BASE_URL is empty: Set it.')).toBe('Inconclusive: YIELD_BASE_URL is empty: Set it.')
    expect(summaryOf('Nothing came.')).toBe('Inconclusive: nothing came.')
  })
})

test('a verdict is passed only with a rule that is known to be kept', () => {
  const verdictWith = (...findings: ReportedFinding[]) => verdictOf(grounds({ findings }))
  expect(verdictWith(found('needs_review'), found('passed')).verdict).toBe('passed')
  for (const one of [found('needs_review'), found('failed', { accepted: 'known' })]) {
    const { verdict, summary } = verdictWith(one, found('not_exercised'))
    expect(verdict).toBe('inconclusive')
    expect(summary).toContain('no rule is known to be kept')
  }
  expect(verdictWith(found('not_exercised')).summary).toContain('not exercised on anything')
})

test('a reason says more than that nothing was exercised', () => {
  const unmet = ['npm sent nothing.']
  expect(verdictOf(grounds({ findings: [], reasons: unmet })).unmet).toEqual(unmet)
})

test('a failure that a baseline accepts is none', () => {
  const findings = [found('failed', { title: 'One', accepted: 'known' }), found('failed', { title: 'Other' })]
  expect(failuresOf({ findings, operations: [] })).toEqual(['Other'])
})
