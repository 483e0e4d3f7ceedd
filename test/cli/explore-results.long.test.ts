import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { expectClear } from './expect-clear.ts'
import { expectGone } from './expect-gone.ts'
import { ALL, Explored, FEW } from './explored.ts'

const explored = new Explored()
const start = explored.start.bind(explored)

test('a Ctrl-C is shown and written down, and nothing is left running', async () => {
  const report = explored.client.path('explore.json')
  const interrupted = start([...FEW, '--report', report])
  await eventually(() => expect(explored.client.results.length).toBeGreaterThanOrEqual(2))
  interrupted.kill('SIGINT')
  const ended = await interrupted.ended
  expect(ended).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/^Not tried: (\d) more, \1 of them at transfers \(interrupted\)\.$/m),
  })
  expect(ended.stderr).toMatch(/the same command line with --resume goes on$/m)
  expect(ended.stderr).toMatch(/^Passed as far as it went: /m)
  const written = JSON.parse(readFileSync(report, 'utf8'))
  expect(written.results.length + written.untried.trials.length).toBe(ALL)
  expect(written.results).toHaveLength(explored.client.results.length)
  for (const pid of explored.client.runs) expectGone(pid)
})

test('a SIGKILL is not lost: --resume does the rest', async () => {
  const killed = start(FEW)
  await eventually(() => expect(explored.client.results.length).toBeGreaterThanOrEqual(2))
  killed.kill('SIGKILL')
  await killed.ended
  const kept = explored.client.results
  explored.client.noteRunsIn('runs-resumed')
  const ended = await start([...FEW, '--resume']).ended
  expect(ended).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`${ALL} runs, ${kept.length} of them known`),
  })
  // Two without faults, and those that were missing.
  expect(explored.client.runs).toHaveLength(2 + ALL - kept.length)
  expect(explored.client.results).toHaveLength(ALL)
  expect(explored.client.results).toEqual(expect.arrayContaining(kept))
})

test('explore --max-runs says how many of all runs there were, and is not passed when transfers are left out', async () => {
  const wish = ['--only', 'deposit', '--faults', 'drop_connection', '--max-runs', '2', '--jobs', '1']
  const { code, stderr } = await start(wish).ended
  const [, all] = /, (\d+) runs$/m.exec(stderr) ?? []
  expect(stderr).toMatch(new RegExp(`^yield-sandbox: 2 of ${all} runs, 0 bad`, 'm'))
  const left = Number(all) - 2
  expect(stderr).toContain(`Not tried: ${left} more, ${left} of them at transfers (--max-runs 2).`)
  expect(stderr).toMatch(/^Passed as far as it went: 2 faults struck/m)
  expect(code).toBe(4)
})

test('what came before is not mixed with what comes of another command line, and goes on with its own', async () => {
  expect(await start([...FEW, '--max-runs', '1']).ended).toMatchObject({ code: 4 })
  const resume = (flags: readonly string[]) => start([...FEW, '--resume', ...flags]).ended
  expectClear(await resume(['--before', 'true']), { code: 2, line: /--resume: .* is of other flags: .* leave out/ })
  expectClear(await resume(['--seed', '1']), { code: 2, line: /--resume: .* is of another seed/ })
  const kept = explored.client.results
  expect(kept).toHaveLength(1)
  const ended = await resume(['--max-runs', '1'])
  expect(ended.stderr).toContain('runs, 1 of them known')
  expect(explored.client.results).toHaveLength(2)
  expect(explored.client.results).toEqual(expect.arrayContaining(kept))
})
