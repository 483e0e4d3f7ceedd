import { expect, test } from 'vitest'
import { mergedReport, type Verdict } from '../../src/verdict/report.ts'
import { reportOf } from '../exec/report.ts'

const merged = (...verdicts: Verdict[]) => mergedReport(verdicts.map((verdict) => reportOf(verdict, {}))).verdict

test.each<[Verdict[], Verdict]>([
  [['passed', 'passed'], 'passed'],
  [['passed', 'inconclusive'], 'inconclusive'],
  [['inconclusive', 'passed'], 'inconclusive'],
  [['inconclusive', 'failed'], 'failed'],
  [['failed', 'passed'], 'failed'],
  [[], 'inconclusive'],
])('%j together are %s', (verdicts, verdict) => {
  expect(merged(...verdicts)).toBe(verdict)
})

test('one report is itself', () => {
  const only = reportOf('failed')
  expect(mergedReport([only])).toBe(only)
})

test('several have their rules added up, and a sentence that names those that did not pass', () => {
  const passed = reportOf('passed', { 'retry-after': 'passed', 'polling-pace': 'not_exercised' }, { scenario: 'one' })
  const failed = (scenario?: string) =>
    reportOf(
      'failed',
      { 'retry-after': 'failed', 'polling-pace': 'passed' },
      scenario === undefined ? {} : { scenario },
    )
  const open = reportOf('inconclusive', {}, { scenario: 'four' })
  const reports = [passed, failed('two'), failed(), open]
  expect(mergedReport(reports)).toEqual({
    ...{ verdict: 'failed', proved: 3, contradicted: 2, unproved: 1, reports },
    summary: '1 of 4 scenarios passed; 2 failed: two, -; 1 inconclusive: four.',
    headline: 'Money of two.',
  })
  expect(mergedReport([passed, passed])).toHaveProperty('summary', '2 of 2 scenarios passed.')
})
