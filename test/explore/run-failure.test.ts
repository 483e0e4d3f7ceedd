import { describe, expect, test } from 'vitest'
import type { CommandEnd } from '../../src/exec/run-command.ts'
import { isAlike, runFailure } from '../../src/explore/shrink/shrink-run.ts'
import { reportOf } from '../exec/report.ts'

const ended = (code: number | null, more: Partial<CommandEnd> = {}): CommandEnd => {
  return { code, signal: null, timedOut: false, leftBehind: [], ...more }
}
const run = (report: ReturnType<typeof reportOf>, end = ended(0)) => ({ report, end })
const PAID_TWICE = reportOf('failed', { 'single-transfer': 'failed', 'polling-pace': 'failed' })
const PASSED = reportOf('passed', { 'single-transfer': 'passed' })

describe('a failure', () => {
  test('is what is contradicted, and how the command ended', () => {
    expect(runFailure(run(PAID_TWICE, ended(2)))).toEqual({
      findings: ['single-transfer', 'polling-pace'],
      code: 2,
      words: ['The title of single-transfer', 'The title of polling-pace', 'the command ended with code 2'],
    })
  })

  test('has no word of a command that ended well', () => {
    expect(runFailure(run(PAID_TWICE))?.words).toEqual(['The title of single-transfer', 'The title of polling-pace'])
  })

  test('is not there when all is well, or nothing is known, or a baseline accepts it', () => {
    expect(runFailure(run(PASSED))).toBeUndefined()
    expect(runFailure(run(reportOf('inconclusive', {}, { unmet: ['Nothing came about.'] })))).toBeUndefined()
    const findings = PAID_TWICE.findings.map((finding) => ({ ...finding, accepted: 'ticket 7' }))
    expect(runFailure(run({ ...PAID_TWICE, verdict: 'passed', findings }))).toBeUndefined()
  })

  test.each([
    ['the same findings, whatever the code', PAID_TWICE, ended(1), true],
    ['one of them only', reportOf('failed', { 'polling-pace': 'failed' }), ended(0), false],
    ['none', PASSED, ended(0), false],
    ['none, and a code', PASSED, ended(2), false],
  ])('of findings comes again with %s: %j', (_, report, end, alike) => {
    expect(isAlike(runFailure(run(PAID_TWICE))!, run(report, end))).toBe(alike)
  })

  test.each([
    ['the same code', ended(2), true],
    ['another code', ended(3), false],
    ['a signal', ended(null, { signal: 'SIGKILL' }), false],
    ['a good end', ended(0), false],
  ])('of the command alone comes again with %s', (_, end, alike) => {
    expect(isAlike(runFailure(run(PASSED, ended(2)))!, run(PASSED, end))).toBe(alike)
  })
})
