import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { Command } from './command.ts'
import { expectGone } from './expect-gone.ts'
import { ExploredClient } from './explore-clients.ts'

/** Five runs at one place. */
const FAULTS = 'reset-on-request,reset-after-broadcast,close-after-broadcast,close-after-confirmation,cut-json'
const FEW = ['--only', 'deposit', '--faults', FAULTS, '--jobs', '2']
const ALL = 5

let client: ExploredClient
let started: Command[] = []
beforeEach(() => {
  client = new ExploredClient()
})
afterEach(async () => {
  for (const command of started) command.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  started = []
  client[Symbol.dispose]()
})

function start(flags: readonly string[], env: Record<string, string> = {}, command = client.command): Command {
  const results = ['--results', client.path('results.jsonl')]
  const exploring = new Command(['explore', ...results, ...flags, '--', ...command], {
    env: { ...client.env, ...env },
  })
  started.push(exploring)
  return exploring
}

test('a Ctrl-C is shown and written down, and nothing is left running', async () => {
  const report = client.path('explore.json')
  const interrupted = start([...FEW, '--report', report])
  await eventually(() => expect(client.results.length).toBeGreaterThanOrEqual(2))
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
  expect(written.results).toHaveLength(client.results.length)
  for (const pid of client.runs) expectGone(pid)
})
