import { expect, test } from 'vitest'
import { exitCodeOf } from '../../src/exec/exit-code.ts'
import type { CommandEnd } from '../../src/exec/run-command.ts'
import type { Scenario } from '../../src/scenarios/scenario-schema.ts'
import type { Verdict } from '../../src/verdict/report.ts'
import { reportOf } from './report.ts'

const GOOD: CommandEnd = { code: 0, signal: null, timedOut: false, leftBehind: [] }
const run = (verdict: Verdict, end: Partial<CommandEnd> = {}, used = true) => ({
  scenario: undefined,
  end: { ...GOOD, ...end },
  report: reportOf(verdict, {}, { used }),
})
const terms = { badBaseline: false, allowInconclusive: false, interruptedBy: undefined }

test.each([
  ['a verdict', [run('passed')], 0],
  ['a verdict', [run('failed')], 3],
  ['a verdict', [run('inconclusive')], 4],
  ['the gravest of several', [run('passed'), run('inconclusive'), run('failed')], 3],
  ['the command itself first', [run('failed', { code: 9 })], 9],
  ['the first command that failed', [run('passed'), run('failed', { code: 5 }), run('passed', { code: 6 })], 5],
  ['a signal', [run('passed', { code: null, signal: 'SIGKILL' })], 137],
  ['time that was over, whatever the command made of it', [run('passed', { code: 0, timedOut: true })], 1],
  ['one of several that is inconclusive', [run('passed'), run('inconclusive')], 4],
  ['nothing done at all', [run('passed', {}, false)], 4],
])('%s: %#', (_, runs, code) => {
  expect(exitCodeOf({ ...terms, runs })).toBe(code)
})

test.each([
  ['its code is not counted, and the verdict decides', 'passed', { code: 1 }, 0],
  ['its code is not counted, and the verdict decides', 'failed', { code: 1 }, 3],
  ['its code is not counted, and the verdict decides', 'inconclusive', { code: 1 }, 4],
  ['a signal counts', 'passed', { code: null, signal: 'SIGSEGV' as const }, 139],
  ['time that was over counts', 'passed', { code: 1, timedOut: true }, 1],
] as const)('where the command may fail, %s: %s, %j', (_, verdict, end, code) => {
  expect(exitCodeOf({ ...terms, runs: [{ ...run(verdict, end), scenario: scenarioWith('may_fail') }] })).toBe(code)
  if (code !== 1 && code !== 139) {
    expect(exitCodeOf({ ...terms, runs: [{ ...run(verdict, end), scenario: scenarioWith('well') }] })).toBe(1)
  }
})

function scenarioWith(command: 'well' | 'may_fail'): Scenario {
  return { name: 'reverted', description: 'x', faults: [], clock: [], expect: { command } }
}

test('what is allowed to be inconclusive is good, unless nothing was done at all', () => {
  expect(exitCodeOf({ ...terms, allowInconclusive: true, runs: [run('inconclusive')] })).toBe(0)
  expect(exitCodeOf({ ...terms, allowInconclusive: true, runs: [run('inconclusive', {}, false)] })).toBe(4)
  expect(exitCodeOf({ ...terms, allowInconclusive: true, runs: [run('failed')] })).toBe(3)
})

test('a baseline that is at fault fails what would pass', () => {
  expect(exitCodeOf({ ...terms, badBaseline: true, runs: [run('passed')] })).toBe(3)
})

test('an interruption is told by its signal, even if the command took it for a good end', () => {
  expect(exitCodeOf({ ...terms, interruptedBy: 'SIGINT', runs: [run('passed')] })).toBe(130)
  expect(exitCodeOf({ ...terms, interruptedBy: 'SIGTERM', runs: [] })).toBe(143)
})

test('a run that asked for nothing is one too many, whatever is allowed; one operation is enough', () => {
  const runs = [run('passed'), run('inconclusive', {}, false)]
  expect(exitCodeOf({ ...terms, runs, allowInconclusive: true })).toBe(4)
  const used = run('passed')
  used.report.coverage.operations.push({ id: 'deposit', exercised: false, count: 0 })
  expect(exitCodeOf({ ...terms, runs: [used] })).toBe(0)
})
