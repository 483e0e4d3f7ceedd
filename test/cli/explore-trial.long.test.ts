import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TrialResult } from '../../src/explore/exploration.ts'
import { isBad } from '../../src/explore/judge/judge-trial.ts'
import { ExploredClient } from './explore-clients.ts'
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
  expect(pasted.map(({ first }) => first.smallest !== undefined)).toEqual([false, true])
  for (const { first, second, code } of pasted) {
    // Of a random schedule the fewest faults are done again, with which the command may end otherwise.
    expect(second).toMatchObject({ outcome: first.outcome, ...(!first.smallest && { end: first.end }) })
    expect(second.trial.harms).toEqual(first.smallest?.harms ?? first.trial.harms)
    expect(code).toBe(isBad(first.level) ? 3 : 0)
  }
})
