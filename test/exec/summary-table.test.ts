import { expect, test } from 'vitest'
import { summaryTable } from '../../src/exec/exec-result.ts'
import type { Run } from '../../src/exec/sandbox-run.ts'
import { reportOf } from './report.ts'

test('a line for each run, numbers to the right', () => {
  const scenario = { name: 'rate-limited', description: 'x', faults: [], clock: [], expect: {} }
  const end = { code: 0, signal: null, timedOut: false, leftBehind: [] }
  const rest = { end, took: 12_345, otherNamespaces: 0, missed: [] }
  const runs: Run[] = [
    { scenario, report: reportOf('inconclusive', { 'retry-after': 'passed' }), ...rest },
    { scenario: undefined, report: reportOf('failed'), ...rest, took: 50, end: { ...end, code: 3 } },
  ]
  expect(summaryTable(runs).split('\n')).toEqual([
    "scenario      verdict       command's code  kept  broken  not tested  seconds  why",
    'rate-limited  inconclusive               0     1       0           0     12.3',
    '-             failed                     3     0       0           0      0.1',
  ])
})
