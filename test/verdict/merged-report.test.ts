import { expect, test } from 'vitest'
import { mergedReport } from '../../src/verdict/merged-report.ts'
import type { Verdict } from '../../src/verdict/report.ts'
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
