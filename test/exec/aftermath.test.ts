import { expect, test } from 'vitest'
import { endingOf, hasStruck, lastNumber } from '../../src/exec/aftermath.ts'
import { endInAWord } from '../../src/exec/command-end.ts'
import type { CommandEnd } from '../../src/exec/run-command.ts'
import { exchange } from '../verdict/exchange.ts'

const end = (parts: Partial<CommandEnd>): CommandEnd => ({
  ...{ code: 0, signal: null, timedOut: false, leftBehind: [] },
  ...parts,
})

test.each([
  ['well', '0', end({})],
  ['failed', '7', end({ code: 7 })],
  ['failed', 'SIGKILL', end({ code: null, signal: 'SIGKILL' })],
  ['hung', 'timeout', end({ timedOut: true })],
])('a command that ended %s: %s', (ending, word, how) => {
  expect([endingOf(how), endInAWord(how)]).toEqual([ending, word])
})

test('a fault has struck if any exchange says so, also one that outlives the record', () => {
  const struck = exchange({ faults: [{ id: 'fault-1', kind: 'hang', phase: 'on_request', explanation: '' }] })
  const seen = { kept: [], exchanges: [exchange(), struck] }
  expect([hasStruck('fault-1', seen), hasStruck('fault-2', seen)]).toEqual([true, false])
  expect(hasStruck('fault-1', { kept: [struck], exchanges: [] })).toBe(true)
})

test('what comes after the last exchange on record is of a later start', () => {
  expect(lastNumber({ exchanges: [] })).toBe(0)
  expect(
    lastNumber({
      exchanges: [
        { ...exchange(), number: 3 },
        { ...exchange(), number: 8 },
      ],
    }),
  ).toBe(8)
})
