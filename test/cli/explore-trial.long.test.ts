import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TrialResult } from '../../src/explore/exploration.ts'
import { isBad } from '../../src/explore/judge/judge-trial.ts'
import { ROOT } from './command.ts'
import { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'
import { again } from './pasted-again.ts'

let client: ExploredClient
beforeEach(() => {
  client = new ExploredClient()
})
afterEach(() => client[Symbol.dispose]())

test('a command line that explore prints does a pair and the fewest faults of a random schedule again, without further flags', async () => {
  const flags = [
    '--only',
    'deposit',
    '--faults',
    'reset-after-broadcast',
    '--seed',
    '7',
    '--depth',
    '2',
    '--random',
    '1',
  ]
  const several = ({ trial }: TrialResult) => trial.harms.length === 2 || trial.id.startsWith('random')
  const pasted = await again(client, flags, { TWICE: '1' }, several)
  // Pairs come last: they follow from the others.
  expect(pasted.map(({ first }) => first.smallest !== undefined)).toEqual([true, false])
  for (const { first, second, code } of pasted) {
    // Of a random schedule the fewest faults are done again, with which the command may end otherwise.
    expect(second).toMatchObject({ outcome: first.outcome, ...(!first.smallest && { end: first.end }) })
    expect(second.trial.harms).toEqual(first.smallest?.harms ?? first.trial.harms)
    expect(code).toBe(isBad(first.level) ? 3 : 0)
  }
})

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

test('a trial leaves the results of an exploration as they are', async () => {
  const results = ['--results', client.path('results.jsonl')]
  const flags = ['--only', 'deposit', '--faults', 'revert']
  await runHere(['explore', ...results, ...flags, '--', ...client.command], client.env)
  const kept = readFileSync(client.path('results.jsonl'), 'utf8')
  const trial = ['--trial', 'deposit#1@alice reset-on-request']
  const ended = await runHere(['explore', ...results, ...trial, '--', ...client.command], client.env)
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^reset on request +✓$/m) })
  expect(readFileSync(client.path('results.jsonl'), 'utf8')).toBe(kept)
})
