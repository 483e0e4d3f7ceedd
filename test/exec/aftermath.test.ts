import { describe, expect, test } from 'vitest'
import {
  type Aftermath,
  endingOf,
  FAULTS_TAKEN_AWAY,
  hasStruck,
  lastNumber,
  reasonsAgainst,
} from '../../src/exec/aftermath.ts'
import { endInAWord, endInWords } from '../../src/exec/command-end.ts'
import type { CommandEnd } from '../../src/exec/run-command.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { exchange } from '../verdict/exchange.ts'

const end = (parts: Partial<CommandEnd>): CommandEnd => ({
  ...{ code: 0, signal: null, timedOut: false, leftBehind: [] },
  ...parts,
})

test.each([
  ['well', '0', end({}), 'ended with code 0'],
  ['failed', '7', end({ code: 7 }), 'ended with code 7'],
  ['failed', '1', end({ code: null }), 'ended with code 1'],
  ['failed', 'SIGKILL', end({ code: null, signal: 'SIGKILL' }), 'was ended by SIGKILL'],
  ['hung', 'timeout', end({ timedOut: true }), 'was not done in time'],
])('a command that ended %s: %s', (ending, word, how, words) => {
  expect([endingOf(how), endInAWord(how), endInWords(how)]).toEqual([ending, word, `the command ${words}`])
})

describe('a reason against a run', () => {
  const struck = exchange({ faults: [{ id: 'fault-1', kind: 'hang', phase: 'on_request', explanation: '' }] })
  const rules = ['fault-1', 'fault-2'].map((id) => ({
    id,
    kind: 'hang',
    hits: 0,
    explanation: '',
  })) as Aftermath['rules']
  const against = (
    parts: Partial<Aftermath & Aftermath['evidence']['taken_away']>,
    met: Aftermath['rules'] = rules,
  ) => {
    const { unsettled = 0, clearings = 0, resets = 0 } = parts
    const evidence = { ...evidenceOf([struck]), taken_away: { faults: 0, clearings, resets } }
    return reasonsAgainst({ evidence, unsettled, rules: [] }, met)
  }

  test.each([
    [1, 'A transfer was still under way ten seconds after your command ended: nothing is known of it yet.'],
    [2, '2 transfers were still under way ten seconds after your command ended: nothing is known of them yet.'],
  ])('is that %i of its transfers are under way', (unsettled, sentence) => {
    expect(against({ unsettled })).toEqual([sentence])
  })

  test('is that it took faults away that never struck', () => {
    expect(against({ clearings: 1 })).toEqual([FAULTS_TAKEN_AWAY])
    expect(against({ resets: 1 })).toEqual([FAULTS_TAKEN_AWAY])
    expect(against({})).toEqual([])
    expect(against({ clearings: 1 }, rules.slice(0, 1))).toEqual([])
    expect(against({ clearings: 1 }, [])).toEqual([])
  })
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
