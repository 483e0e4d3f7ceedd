import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WORKER } from '../explore/twin-workers.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-twins-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Explores the worker, of which each run has a store of its own. */
const explore = (flags: readonly string[], variant: Record<string, string> = {}) => {
  const files = ['--results', join(folder, 'results.jsonl'), '--report', join(folder, 'explore.json')]
  const args = ['explore', '--no-join', '--jobs', '2', ...files, ...flags, '--', ...WORKER]
  return runHere(args, { STATE_DIR: folder, ...variant })
}
const report = () => JSON.parse(readFileSync(join(folder, 'explore.json'), 'utf8'))

describe('explore --twins', () => {
  test('goes on with --resume, and a trial that it printed does the same again', async () => {
    const flags = ['--twins', '--only', 'deposit', '--seed', '7']
    const variant = { MISTAKE: 'key-per-start' }
    await explore([...flags, '--max-runs', '1'], variant)
    expect(report()).toMatchObject({ results: { length: 1 }, untried: { trials: { length: 10 } } })
    const ended = await explore([...flags, '--resume', '--max-runs', '1'], variant)
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/^twin, held on request +✗2?/m) })
    const { results } = report()
    expect(results).toHaveLength(2)
    const [{ trial, outcome, sentences, repeat }] = results
    expect(repeat).toContain(`--trial '${trial.id}' --seed 7`)
    const again = await explore(['--trial', trial.id, '--seed', '7'], variant)
    expect(again.code).toBe(3)
    expect(report().results).toMatchObject([{ trial: { id: trial.id }, outcome, sentences }])
  })

  test('says in one sentence why a command that does its work anew has no twin', async () => {
    const ended = await explore(['--twins'], { MISTAKE: 'all-anew' })
    const line =
      /^yield-sandbox: after a run that nothing happens to, the command was started once more: it moved money 3 times more\. With --twins /m
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringMatching(line) })
    expect(ended.stderr).not.toMatch(/^\s+at /m)
  })

  test('says in one sentence what there is instead of a twin that is unknown', async () => {
    expectClear(await explore(['--twins', '--faults', 'twin-while-underway']), {
      code: 2,
      line: /"twin-while-underway" is not known; did you mean "twin-while-under-way"/,
    })
  })
})
