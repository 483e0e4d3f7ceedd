import { expect, test } from 'vitest'
import { ExploreTwinned } from './explore-twinned.ts'

const twinned = new ExploreTwinned()

test('explore --twins goes on with --resume, and a trial that it printed does the same again', async () => {
  const flags = ['--twins', '--only', 'deposit', '--seed', '7']
  const variant = { MISTAKE: 'key-per-start' }
  await twinned.explore([...flags, '--max-runs', '1'], variant)
  expect(twinned.report).toMatchObject({ results: { length: 1 }, untried: { trials: { length: 10 } } })
  const ended = await twinned.explore([...flags, '--resume', '--max-runs', '1'], variant)
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/^twin, held on request +✗2?/m) })
  const { results } = twinned.report
  expect(results).toHaveLength(2)
  const [{ trial, outcome, sentences, repeat }] = results
  expect(repeat).toContain(`--trial '${trial.id}' --seed 7`)
  const again = await twinned.explore(['--trial', trial.id, '--seed', '7'], variant)
  expect(again.code).toBe(3)
  expect(twinned.report.results).toMatchObject([{ trial: { id: trial.id }, outcome, sentences }])
})

test('says in one sentence why a command that does its work anew has no twin', async () => {
  const ended = await twinned.explore(['--twins'], { MISTAKE: 'all-anew' })
  const line =
    /^yield-sandbox: after a run that nothing happens to, the command was started once more: it moved money 3 times more\. With --twins /m
  expect(ended).toMatchObject({ code: 4, stderr: expect.stringMatching(line) })
  expect(ended.stderr).not.toMatch(/^\s+at /m)
})
