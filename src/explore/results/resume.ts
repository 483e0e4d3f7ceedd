import { readFileSync } from 'node:fs'
import { type TSchema, Type } from '@sinclair/typebox'
import { OptionError } from '../../option-error.ts'
import { LEVELS } from '../../oracle/outcome.ts'
import { shellWords, shorten } from '../../support/foreign-text.ts'
import { formatPath } from '../../support/issue.ts'
import { schemaIssues } from '../../support/schema-issues.ts'
import { TRIAL_OUTCOMES, type Trial, type TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'
import { BrokenChain, filesOfCommand, RESULTS_FORM, type ResultsHeader, readChained } from './results-file.ts'

/** An object schema that allows other members: they belong to later versions, and to reports. */
const object = <P extends Record<string, TSchema>>(members: P) => Type.Object(members)
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const words = Type.Array(Type.String())
const MinorUnits = Type.String({ pattern: '^-?[0-9]+$' })

const PlannedStrike = object({
  position: object({
    operation: Type.String(),
    tenant: orNull(Type.String()),
    external_id: orNull(Type.String()),
    end_user: orNull(Type.Integer({ minimum: 1 })),
    ordinal: Type.Integer({ minimum: 1 }),
  }),
  hazard: object({ id: Type.String(), title: Type.String(), rule: orNull(object({ kind: Type.String() })) }),
})

/** A line of the results file, with the members that a report needs. */
const ResultSchema = object({
  trial: object({ id: Type.String(), harms: Type.Array(PlannedStrike, { minItems: 1 }) }),
  outcome: Type.Union(TRIAL_OUTCOMES.map((outcome) => Type.Literal(outcome))),
  level: Type.Union(LEVELS.map((level) => Type.Literal(level))),
  sentences: Type.Array(Type.String(), { minItems: 1 }),
  operations: Type.Array(
    object({ outcome: Type.String(), level: Type.String(), sentence: Type.String(), type: Type.String() }),
  ),
  findings: Type.Array(object({ id: Type.String(), title: Type.String(), explanation: Type.String() })),
  end: Type.String(),
  took_ms: Type.Number({ minimum: 0 }),
  overhead_ms: Type.Number(),
  repeat: Type.String(),
  exchanges: Type.Optional(
    Type.Array(object({ request_id: Type.String(), request: Type.String(), answer: Type.String() })),
  ),
  money: Type.Optional(
    Type.Array(
      object({
        tenant: Type.String(),
        external_id: Type.String(),
        pool_id: Type.String(),
        token_symbol: Type.String(),
        token_decimals: Type.Integer(),
        before_minor: MinorUnits,
        expected_minor: MinorUnits,
        is_minor: MinorUnits,
      }),
    ),
  ),
  smallest: Type.Optional(
    object({ harms: Type.Array(PlannedStrike, { minItems: 1 }), minimal: Type.Boolean(), file: Type.String() }),
  ),
})

/** The first line of the file. */
const HeaderSchema = object({
  form: Type.Integer(),
  version: Type.String(),
  command: words,
  flags: words,
  files: Type.Record(Type.String(), Type.String()),
  seed: Type.Integer({ minimum: 0 }),
  clock: Type.String(),
  baseline: object({
    exchanges: Type.Integer({ minimum: 0 }),
    positions: Type.Integer({ minimum: 0 }),
    took_ms: Type.Array(Type.Number()),
    difference: orNull(Type.String()),
    left_behind: words,
    shared_keys: Type.Integer({ minimum: 0 }),
  }),
  places: words,
})

/** Terms that results must have to be resumed. */
export interface Wanted {
  version: string
  /** Command line, and flags that matter, as one writes them. */
  command: string
  flags: string
  /** Undefined: any seed or clock. */
  seed: number | undefined
  clock: string | undefined
}

/** Results of an earlier exploration. */
export interface KeptResults {
  header: ResultsHeader
  /** By the id of the trial. */
  results: ReadonlyMap<string, TrialResult>
  /** Reports that today's trials are at other places; undefined when they are not. */
  changeOf(trials: readonly Trial[]): string | undefined
}

/**
 * Reads results to resume; a last line that was cut short is left out. Throws OptionError when the results are of other terms, or the
 * file was changed.
 */
export function readResults(path: string, wanted: Wanted): KeptResults {
  const [header, ...results] = storedLines(path)
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

/** Refuses results of a command whose files have changed. */
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

/** Validates a line (from 1) against the schema. Throws OptionError. */
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

function storedLines(path: string): unknown[] {
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
    // In a file of another program, or of an earlier version, not even the first line has a digest.
    const what =
      error.line === 1 && !text.includes('"digest":"')
        ? 'holds no results of explore of this version'
        : `was edited in line ${error.line}, or has lost one before it`
    throw new OptionError(`--resume: ${path} ${what}; ${ANEW}`)
  }
}
