import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { planTrials } from '../../src/explore/plan/plan.ts'
import { ResultsFile } from '../../src/explore/results/results-file.ts'
import { readResults, type Wanted } from '../../src/explore/results/resume.ts'
import { resultOf, sampleExploration, samplePlaces, sampleTrials } from './render/sample-exploration.ts'

const TRIALS = sampleTrials()
const [FIRST, SECOND] = TRIALS.map((trial) => resultOf(trial, 'survived'))
const OF = { ...sampleExploration(), command: ['npm', 'test'], flags: ['--before', 'npm run reset'], trials: TRIALS }
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
    const [header, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(header!)).toEqual({
      ...{ form: 1, version: '0.1.0', command: ['npm', 'test'], flags: OF.flags, seed: 7, clock: OF.clock },
      baseline: OF.baseline,
      places: ['list_pools#1', 'deposit#1@alice', 'deposit#2@alice'].sort(byFirst(TRIALS)),
    })
    expect(lines.map((line) => JSON.parse(line))).toEqual([FIRST])
  })

  test('of an earlier exploration are replaced, but for those that are gone on from', () => {
    ResultsFile.begin(path, OF, []).add(FIRST!)
    ResultsFile.begin(path, OF, [SECOND!])
    expect(idsIn()).toEqual([SECOND!.trial.id])
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
    expect(() => readResults(path, WANTED)).toThrow(/results\.jsonl is damaged; leave out --resume to begin anew/)
  })

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
    ['null\n', /holds no results of explore/],
    ['nonsense\n', /is damaged/],
    ['{"form":1}\n', /is damaged/],
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
    const trials = planTrials(others, { kinds: [], operations: [], depth: 1 })
    expect(changeOf(trials)).toMatch(/2 places are gone, with their results, and 1 place is new$/)
  })
})

/** In the order in which trials have them. */
function byFirst(trials: typeof TRIALS) {
  const at = (place: string) => trials.findIndex(({ id }) => id.startsWith(place))
  return (a: string, b: string) => at(a) - at(b)
}
