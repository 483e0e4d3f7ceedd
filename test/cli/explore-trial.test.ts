import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'

let client: ExploredClient
beforeEach(() => {
  client = new ExploredClient()
})
afterEach(() => client[Symbol.dispose]())

// What explore prints for a trial does it again: explore-trial.long.test.ts, and for a double payment explore.long.test.ts.
describe('explore --trial', () => {
  test('leaves the results of an exploration as they are', async () => {
    const results = ['--results', client.path('results.jsonl')]
    const flags = ['--only', 'deposit', '--faults', 'revert']
    await runHere(['explore', ...results, ...flags, '--', ...client.command], client.env)
    const kept = readFileSync(client.path('results.jsonl'), 'utf8')
    const trial = ['--trial', 'deposit#1@alice reset-on-request']
    const ended = await runHere(['explore', ...results, ...trial, '--', ...client.command], client.env)
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^reset on request +✓$/m) })
    expect(readFileSync(client.path('results.jsonl'), 'utf8')).toBe(kept)
  })

  test('says in one sentence what there is instead of a trial that is unknown', async () => {
    const trial = ['--trial', 'deposit#1@alice reset-after-brodcast']
    const ended = await runHere(['explore', ...trial, '--', ...client.command], client.env)
    const line = /--trial "deposit#1@alice reset-after-brodcast": .* did you mean "reset-after-broadcast"\?/
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(line) })
  })

  test.each([['--resume'], ['--depth', '2'], ['--random', '3'], ['--only', 'deposit'], ['--max-runs', '1']])(
    'goes with nothing that chooses among trials: %s %s',
    async (...flags) => {
      const ended = await runHere(['explore', '--trial', 'deposit#1 revert', ...flags.filter(Boolean), '--', 'true'])
      expectClear(ended, { code: 2, line: /'--trial <id>' cannot be used with option '--/ })
    },
  )
})
