import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { OptionError } from '../option-error.ts'
import { shellWords } from '../support/shell-words.ts'
import type { Exploration, TrialResult } from './exploration.ts'

/** Of the form of the file. */
const FORM = 1

/** What results are of: others must not be mixed with them. */
export interface ResultsHeader {
  form: typeof FORM
  version: string
  command: readonly string[]
  seed: number
  clock: string
  /** Flags that change what a run does, as words: `--fixtures`, `--before`. */
  flags: readonly string[]
}

/** What an earlier exploration has left. */
export interface KeptResults {
  header: ResultsHeader
  /** By the id of the trial. */
  results: Map<string, TrialResult>
}

/** Results in JSON Lines, as they come: whatever ends the process, those that there were are kept. */
export class ResultsFile {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Replaces what was there by these results, at once or not at all. Throws OptionError. */
  static begin(
    path: string,
    { command, seed, clock, version }: Exploration,
    flags: readonly string[],
    results: Iterable<TrialResult>,
  ): ResultsFile {
    const header: ResultsHeader = { form: FORM, version, command, seed, clock, flags }
    try {
      writeFileSync(`${path}.new`, [header, ...results].map(line).join(''))
      renameSync(`${path}.new`, path)
    } catch (error) {
      throw new OptionError(`--results ${path} cannot be written (${(error as Error).message})`)
    }
    return new ResultsFile(path)
  }

  add(result: TrialResult): void {
    appendFileSync(this.path, line(result))
  }
}

/** Reads results to go on from; a last line that was cut short is left out. Throws OptionError when they are of something else. */
export function readResults(
  path: string,
  { command, flags, version }: Pick<ResultsHeader, 'command' | 'flags' | 'version'>,
): KeptResults {
  const [first, ...others] = linesOf(path)
  const header = first as ResultsHeader | undefined
  if (header?.form !== FORM) throw new OptionError(`--resume: ${path} holds no results of explore`)
  const given = { version, command: shellWords(command), flags: shellWords(flags) }
  const kept = { version: header.version, command: shellWords(header.command), flags: shellWords(header.flags) }
  for (const name of ['version', 'command', 'flags'] as const) {
    if (given[name] === kept[name]) continue
    throw new OptionError(
      `--resume: ${path} is of another ${name}: "${kept[name]}" instead of "${given[name]}"; leave out --resume to begin anew`,
    )
  }
  return { header, results: new Map((others as TrialResult[]).map((result) => [result.trial.id, result])) }
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
    throw new OptionError(`--resume: ${path} is damaged; leave out --resume to begin anew`)
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
