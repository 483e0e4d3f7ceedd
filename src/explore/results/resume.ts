import { readFileSync } from 'node:fs'
import type { TSchema } from '@sinclair/typebox'
import { OptionError } from '../../option-error.ts'
import { formatPath } from '../../support/issue.ts'
import { schemaIssues } from '../../support/schema-issues.ts'
import { shellWords } from '../../support/shell-words.ts'
import { shorten } from '../../support/shorten.ts'
import type { Trial, TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'
import { BrokenChain, readChained } from './chained-lines.ts'
import { filesOfCommand } from './files-of-command.ts'
import { HeaderSchema, ResultSchema } from './result-schema.ts'
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

/**
 * Reads results to go on from; a last line that was cut short is left out. Throws OptionError when they are of something else, or not as
 * they were written.
 */
export function readResults(path: string, wanted: Wanted): KeptResults {
  const [header, ...results] = linesOf(path)
  if (!isOfThisForm(header)) throw new OptionError(`--resume: ${path} holds no results of explore of this version`)
  const kept = checked<ResultsHeader>(HeaderSchema, header, { path, line: 1 })
  const known = results.map((result, i) => checked<TrialResult>(ResultSchema, result, { path, line: i + 2 }))
  refuseOthers(path, wanted, kept)
  refuseAnotherBuild(path, kept)
  return {
    header: kept,
    results: new Map(known.map((result) => [result.trial.id, result])),
    changeOf: (trials) => changeOf(kept.places, placesIn(trials)),
  }
}

/** Refuses results of another command, version, seed, clock or set of flags. */
function refuseOthers(path: string, wanted: Wanted, header: ResultsHeader): void {
  const kept = { ...header, command: shellWords(header.command), flags: shellWords(header.flags) }
  for (const name of ['version', 'command', 'flags', 'seed', 'clock'] as const) {
    if (wanted[name] === undefined || wanted[name] === kept[name]) continue
    const [is, was] = [wanted[name], kept[name]].map((value) => (value === '' ? 'none' : `"${value}"`))
    const what = name === 'flags' ? 'other flags' : `another ${name}`
    throw new OptionError(`--resume: ${path} is of ${what}: ${was} instead of ${is}; ${ANEW}`)
  }
}

/** Refuses results of a command whose files were others. */
function refuseAnotherBuild(path: string, { command, flags, files }: ResultsHeader): void {
  const now = filesOfCommand([...command, ...flags])
  const changed = Object.keys({ ...files, ...now }).find((word) => files[word] !== now[word])
  if (changed === undefined) return
  const how = now[changed] === undefined ? 'is gone' : files[changed] === undefined ? 'is new' : 'has changed'
  throw new OptionError(`--resume: ${path} is of another build of the command: ${shorten(changed)} ${how}; ${ANEW}`)
}

const ANEW = 'leave out --resume to begin anew'

function isOfThisForm(line: unknown): boolean {
  return typeof line === 'object' && line !== null && 'form' in line && line.form === RESULTS_FORM
}

/** Of a line, from 1, what the schema says it is. Throws OptionError. */
function checked<T>(schema: TSchema, value: unknown, { path, line }: { path: string; line: number }): T {
  const [issue] = schemaIssues(schema, value)
  if (!issue) return value as T
  throw new OptionError(`--resume: ${path}, line ${line}: ${formatPath(issue.path)} ${issue.message}; ${ANEW}`)
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
  try {
    return readChained(text)
  } catch (error) {
    if (!(error instanceof BrokenChain)) throw error
    // Of another program, or of an earlier version, the first line has no digest at all.
    const what =
      error.line === 1 && !text.includes('"digest":"')
        ? 'holds no results of explore of this version'
        : `was edited in line ${error.line}, or has lost one before it`
    throw new OptionError(`--resume: ${path} ${what}; ${ANEW}`)
  }
}
