import { readFileSync } from 'node:fs'
import { OptionError } from '../../option-error.ts'
import { shellWords } from '../../support/shell-words.ts'
import type { Trial, TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'
import { RESULTS_FORM, type ResultsHeader } from './results-file.ts'

/** What results must be of, so that they can be gone on from. */
export interface Wanted {
  version: string
  /** Command line, and flags that matter, as one writes them. */
  command: string
  flags: string
  /** Undefined: whatever they were made with. */
  seed: number | undefined
  clock: string | undefined
}

/** What an earlier exploration has left. */
export interface KeptResults {
  header: ResultsHeader
  /** By the id of the trial. */
  results: ReadonlyMap<string, TrialResult>
  /** What to say when the trials of today are at other places; undefined when they are not. */
  changeOf(trials: readonly Trial[]): string | undefined
}

/** Reads results to go on from; a last line that was cut short is left out. Throws OptionError when they are of something else. */
export function readResults(path: string, wanted: Wanted): KeptResults {
  const [header, ...results] = linesOf(path)
  if (!isOfThisForm(header)) throw new OptionError(`--resume: ${path} holds no results of explore`)
  if (!isHeader(header) || !results.every(isResult)) throw damaged(path)
  const kept = { ...header, command: shellWords(header.command), flags: shellWords(header.flags) }
  for (const name of ['version', 'command', 'flags', 'seed', 'clock'] as const) {
    if (wanted[name] === undefined || wanted[name] === kept[name]) continue
    const [is, was] = [wanted[name], kept[name]].map((value) => (value === '' ? 'none' : `"${value}"`))
    const what = name === 'flags' ? 'other flags' : `another ${name}`
    throw new OptionError(`--resume: ${path} is of ${what}: ${was} instead of ${is}; leave out --resume to begin anew`)
  }
  return {
    header,
    results: new Map(results.map((result) => [result.trial.id, result])),
    changeOf: (trials) => changeOf(header.places, placesIn(trials)),
  }
}

function isOfThisForm(line: unknown): boolean {
  return isObject(line) && line.form === RESULTS_FORM
}

function isHeader(line: unknown): line is ResultsHeader {
  return isObject(line) && [line.command, line.flags, line.places].every(Array.isArray)
}

function isResult(line: unknown): line is TrialResult {
  return isObject(line) && isObject(line.trial) && typeof line.trial.id === 'string' && typeof line.outcome === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function damaged(path: string): OptionError {
  return new OptionError(`--resume: ${path} is damaged; leave out --resume to begin anew`)
}

function changeOf(before: readonly string[], now: readonly string[]): string | undefined {
  const missing = (places: readonly string[], among: readonly string[]) =>
    places.filter((place) => !among.includes(place)).length
  const [gone, come] = [missing(before, now), missing(now, before)]
  if (gone + come === 0) return undefined
  const places = (count: number) => `${count} ${count === 1 ? 'place is' : 'places are'}`
  return `the command's requests are not those of before: ${places(gone)} gone, with their results, and ${places(come)} new`
}

function linesOf(path: string): unknown[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new OptionError(`--resume: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  try {
    return complete
      .split('\n')
      .filter(Boolean)
      .map((one) => JSON.parse(one))
  } catch {
    throw damaged(path)
  }
}
