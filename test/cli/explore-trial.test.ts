import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ROOT } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'
import { again } from './pasted-again.ts'

let client: ExploredClient
beforeEach(() => {
  client = new ExploredClient()
})
afterEach(() => client[Symbol.dispose]())

describe('a command line that explore prints', () => {
  test('does a trial again in a shell, with all that makes the same run', async () => {
    const fixtures = join(ROOT, 'fixtures/default.yaml')
    const before = `echo "it's" > '${client.path('before')}' && test "$PAID_TO" = "$YIELD_BASE_URL"`
    const flags = ['--fixtures', fixtures, '--before', before, '--env', 'PAID_TO=YIELD_BASE_URL', '--tolerate']
    const few = ['--only', 'deposit', '--faults', 'reset-after-broadcast,insufficient-role', '--timeout', '2m']
    const pasted = await again(
      client,
      [...flags, ...few, '--clock', '2026-12-24T18:00:00Z'],
      { TWICE: '1' },
      () => true,
    )
    expect(pasted).toHaveLength(2)
    expect(existsSync(client.path('before'))).toBe(true)
    for (const { first, second } of pasted) {
      expect(second.trial).toEqual(first.trial)
      expect([second.outcome, second.sentences, second.end]).toEqual([first.outcome, first.sentences, first.end])
      expect(second.repeat).toBe(first.repeat)
      expect(first.repeat).toMatch(
        / --clock 2026-12-24T18:00:00Z --timeout 120000ms --tolerate --before '.*' --fixtures /,
      )
    }
    expect(new Set(pasted.map(({ code }) => code))).toEqual(new Set([0, 3]))
  })
})

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
