import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TrialResult } from '../../src/explore/exploration.ts'
import { planTrials } from '../../src/explore/plan/plan.ts'
import { chainedLine, NO_LINE, ResultsFile, readChained } from '../../src/explore/results/results-file.ts'
import { readResults, type Wanted } from '../../src/explore/results/resume.ts'
import { exchangeLine } from '../../src/verdict/build-report.ts'
import { exchange } from '../verdict/exchange.ts'
import { resultOf, sampleExploration, samplePlaces, sampleTrials } from './render/sample-exploration.ts'

const TRIALS = sampleTrials()
const [FIRST, SECOND] = TRIALS.map((trial) => resultOf(trial, 'survived', { level: 'ok', operations: [] }))
const SAMPLE = sampleExploration()
const OF = {
  ...SAMPLE,
  baseline: { ...SAMPLE.baseline, shared_keys: 0 },
  command: ['npm', 'test'],
  flags: ['--before', 'npm run reset'],
  trials: TRIALS,
}
const WANTED: Wanted = {
  version: '0.1.0',
  command: 'npm test',
  flags: `--before 'npm run reset'`,
  seed: undefined,
  clock: undefined,
}

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-results-'))
  path = join(directory, 'results.jsonl')
})
afterEach(() => rmSync(directory, { recursive: true }))

const idsIn = () => [...readResults(path, WANTED).results.keys()]

describe('results', () => {
  test('are a header, and a line each as they come', () => {
    const file = ResultsFile.begin(path, OF, [])
    file.add(FIRST!)
    const [header, ...lines] = readChained(readFileSync(path, 'utf8'))
    expect(header).toEqual({
      ...{ form: 2, version: '0.1.0', command: ['npm', 'test'], flags: OF.flags, seed: 7, clock: OF.clock },
      files: {},
      baseline: OF.baseline,
      places: ['list_pools#1', 'deposit#1@alice', 'deposit#2@alice'].sort(byFirst(TRIALS)),
    })
    expect(lines).toEqual([FIRST])
  })

  test('of an earlier exploration are replaced, but for those that are gone on from', () => {
    ResultsFile.begin(path, OF, []).add(FIRST!)
    ResultsFile.begin(path, OF, [SECOND!])
    expect(idsIn()).toEqual([SECOND!.trial.id])
  })

  test('do not go through a link that somebody else has put there', () => {
    const theirs = join(directory, 'precious')
    writeFileSync(theirs, 'precious')
    for (const name of [path, `${path}.new`]) symlinkSync(theirs, name)
    ResultsFile.begin(path, OF, []).add(FIRST!)
    expect(readFileSync(theirs, 'utf8')).toBe('precious')
    expect(idsIn()).toEqual([FIRST!.trial.id])
    expect(readdirSync(directory).sort()).toEqual(['precious', 'results.jsonl', 'results.jsonl.new'])
  })

  test('leave nothing beside them when they cannot take their place', () => {
    mkdirSync(path)
    expect(() => ResultsFile.begin(path, OF, [])).toThrow(/^--results .*cannot be written \(EISDIR\)/)
    expect(readdirSync(directory)).toEqual(['results.jsonl'])
  })

  test('that cannot be written are a clear failure', () => {
    expect(() => ResultsFile.begin(join(directory, 'no', 'file'), OF, [])).toThrow(/^--results .*cannot be written/)
  })
})

describe('resuming', () => {
  test('drops a last line that was cut short, and says where all of it is damaged', () => {
    ResultsFile.begin(path, OF, [FIRST!])
    appendFileSync(path, JSON.stringify(SECOND).slice(0, 50))
    expect(idsIn()).toEqual([FIRST!.trial.id])
    appendFileSync(path, '\n')
    expect(() => readResults(path, WANTED)).toThrow(
      /results\.jsonl was edited in line 3, .*leave out --resume to begin/,
    )
  })

  test.each<[string, (lines: string[]) => string[], number]>([
    ['an edited result', (lines) => lines.with(1, lines[1]!.replace('"survived"', '"gave_up"')), 2],
    ['an edited header', (lines) => lines.with(0, lines[0]!.replace('"seed":7', '"seed":8')), 1],
    ['a blank', (lines) => lines.with(1, lines[1]!.replace('"outcome":', '"outcome": ')), 2],
    ['one line less', (lines) => lines.toSpliced(1, 1), 2],
    ['another order', ([header, first, second, ...rest]) => [header!, second!, first!, ...rest], 2],
    ['a line twice', (lines) => lines.toSpliced(2, 0, lines[1]!), 3],
    ['a line without digest', (lines) => lines.toSpliced(2, 0, JSON.stringify(SECOND)), 3],
    ['an empty line', (lines) => lines.toSpliced(2, 0, ''), 3],
  ])('refuses %s, and names the line', (_, edit, line) => {
    ResultsFile.begin(path, OF, [FIRST!, SECOND!])
    const lines = readFileSync(path, 'utf8').split('\n')
    const edited = edit(lines)
    expect(edited).not.toEqual(lines)
    writeFileSync(path, edited.join('\n'))
    expect(() => readResults(path, WANTED)).toThrow(`results.jsonl was edited in line ${line}, or has lost one before`)
  })

  test('takes what a process that was killed has left: any beginning of the file', () => {
    ResultsFile.begin(path, OF, [FIRST!, SECOND!])
    const text = readFileSync(path, 'utf8')
    for (let end = text.indexOf('\n') + 1; end <= text.length; end += 97) {
      writeFileSync(path, text.slice(0, end))
      expect(idsIn().length).toBe(text.slice(0, end).split('\n').length - 2)
    }
  })

  test('has exchanges and money of a bad result again, and takes a result of an earlier version, which has none', () => {
    const amounts = { before_minor: '0', expected_minor: '7', is_minor: '14' }
    const money = {
      tenant: 'acme',
      external_id: 'alice',
      pool_id: 'p',
      token_symbol: 'USDC',
      token_decimals: 6,
      ...amounts,
    }
    const line = exchangeLine(exchange({ operation: 'deposit' }), 0)
    const bad: TrialResult = { ...FIRST!, outcome: 'paid_twice', level: 'critical', exchanges: [line], money: [money] }
    ResultsFile.begin(path, OF, [bad, { ...SECOND!, outcome: 'paid_twice', level: 'critical' }])
    const kept = [...readResults(path, WANTED).results.values()]
    expect(kept[0]).toEqual(bad)
    expect(kept[1]).not.toHaveProperty('money')
    ResultsFile.begin(path, OF, [{ ...bad, money: [{ ...money, is_minor: 'much' }] }])
    expect(() => readResults(path, WANTED)).toThrow(/line 2: money\.?\[?0\]?\.is_minor/)
  })

  test('refuses a result without its members, and names the one', () => {
    const { took_ms: _, ...without } = FIRST!
    ResultsFile.begin(path, OF, [SECOND!, without as TrialResult])
    expect(() => readResults(path, WANTED)).toThrow(/results\.jsonl, line 3: took_ms is missing.*; leave out --resume/)
    ResultsFile.begin(path, { ...OF, baseline: {} as never }, [])
    expect(() => readResults(path, WANTED)).toThrow(/line 1: baseline\.exchanges is missing/)
    ResultsFile.begin(path, OF, [{ ...FIRST!, outcome: 'fine' as never }])
    expect(() => readResults(path, WANTED)).toThrow(/line 2: outcome/)
  })

  test.each(['command', 'flags'] as const)(
    'refuses results of another build: a file of the %s that has changed',
    (of) => {
      const program = join(directory, 'suite.mjs')
      const words = { command: ['node'], flags: [], [of]: ['node', program] }
      const wanted = { ...WANTED, command: words.command.join(' '), flags: words.flags.join(' ') }
      writeFileSync(program, 'pay()')
      ResultsFile.begin(path, { ...OF, ...words }, [FIRST!])
      expect(readResults(path, wanted).results.size).toBe(1)
      writeFileSync(program, 'pay(2)')
      expect(() => readResults(path, wanted)).toThrow(
        /is of another build of the command: .*suite\.mjs has changed; leave/,
      )
      rmSync(program)
      expect(() => readResults(path, wanted)).toThrow(/suite\.mjs is gone/)
      ResultsFile.begin(path, { ...OF, ...words }, [FIRST!])
      writeFileSync(program, 'pay()')
      expect(() => readResults(path, wanted)).toThrow(/suite\.mjs is new/)
    },
  )

  test.each<[Partial<Wanted>, RegExp]>([
    [{ version: '0.2.0' }, /is of another version: "0\.1\.0" instead of "0\.2\.0"; leave out --resume/],
    [{ command: 'npm start' }, /is of another command: "npm test" instead of "npm start"/],
    [{ flags: '' }, /is of other flags: "--before 'npm run reset'" instead of none/],
    [{ seed: 8 }, /is of another seed: "7" instead of "8"/],
    [{ clock: '2027-01-01T00:00:00Z' }, /is of another clock/],
  ])('refuses results of something else (%j)', (other, message) => {
    ResultsFile.begin(path, OF, [])
    expect(() => readResults(path, { ...WANTED, ...other })).toThrow(message)
    expect(readResults(path, { ...WANTED, seed: 7, clock: OF.clock }).header.seed).toBe(7)
  })

  test.each([
    ['', /holds no results of explore/],
    ['{"form":2}\n', /holds no results of explore/],
    [chainedLine({ form: 1 }, NO_LINE).text, /holds no results of explore of this version/],
    ['null\n', /holds no results of explore/],
    ['nonsense\n', /holds no results of explore/],
    ['{"form":1}\n', /holds no results of explore of this version/],
    [undefined, /cannot be read \(ENOENT\)/],
  ])('refuses another file (%j)', (text, message) => {
    if (text !== undefined) writeFileSync(path, text)
    expect(() => readResults(path, WANTED)).toThrow(message)
  })

  test('says when the command asks at other places by now', () => {
    ResultsFile.begin(path, OF, [])
    const { changeOf } = readResults(path, WANTED)
    expect(changeOf(TRIALS)).toBeUndefined()
    const [pools, first] = samplePlaces()
    const others = [first!, { ...pools!, position: { ...pools!.position, ordinal: 2 } }]
    const trials = planTrials(others, { kinds: [], operations: [] })
    expect(changeOf(trials)).toMatch(/2 places are gone, with their results, and 1 place is new$/)
  })
})

/** In the order in which trials have them. */
function byFirst(trials: typeof TRIALS) {
  const at = (place: string) => trials.findIndex(({ id }) => id.startsWith(place))
  return (a: string, b: string) => at(a) - at(b)
}
