import { expect, test } from 'vitest'
import { sharedReport, withCommand } from '../../src/exec/exec-command-line.ts'
import { reportOf } from './report.ts'

test('every command of a report can be pasted, and after a failure it has all that brings it about', () => {
  const report = reportOf('failed', {
    'retry-after': 'failed',
    'polling-pace': 'not_exercised',
    'client-timeout': 'passed',
  })
  const [failed, open, passed] = report.findings
  const withCommands = {
    ...report,
    findings: [
      { ...failed!, exercise_with: 'yield-sandbox exec --scenario rate-limited -- <your test command>' },
      { ...open!, exercise_with: 'yield-sandbox exec -- <your test command>' },
      passed!,
    ],
  }
  const asked = {
    what: ['--scenario', './my own.yaml', '--fault', 'hang; times=2'],
    flags: [
      '--fixtures',
      'f.yaml',
      '--confirmation-delay',
      '2s',
      '--env',
      'API=YIELD_BASE_URL',
      '--clock',
      '2026-01-01T00:00:00Z',
    ],
    command: ['sh', '-c', "echo 'it''s' && $& test"],
  }
  const flags = '--fixtures f.yaml --confirmation-delay 2s --env API=YIELD_BASE_URL --clock 2026-01-01T00:00:00Z'
  const own = `${flags} -- sh -c 'echo '\\''it'\\'''\\''s'\\'' && $& test'`
  expect(withCommand(withCommands, asked).findings.map(({ exercise_with }) => exercise_with)).toEqual([
    `yield-sandbox exec --scenario './my own.yaml' --fault 'hang; times=2' --seed 7 ${own}`,
    `yield-sandbox exec ${own}`,
    undefined,
  ])
})

test('a report for others shows the home folder as ~', () => {
  const report = reportOf('failed', { 'retry-after': 'failed', 'polling-pace': 'passed' })
  const own = withCommand(
    { ...report, findings: report.findings.map((one, i) => (i === 0 ? { ...one, exercise_with: 'x' } : one)) },
    { what: [], flags: [], command: ['node', '/home/al/suite.mjs'] },
  )
  expect(own.findings[0]?.exercise_with).toContain('-- node /home/al/suite.mjs')
  const shared = sharedReport(own, '/home/al')
  expect(shared.findings[0]?.exercise_with).toBe('yield-sandbox exec --seed 7 -- node ~/suite.mjs')
  expect(shared.findings[1]).toEqual(own.findings[1])
  expect(sharedReport(own, undefined)).toEqual(own)
})
