import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { OptionError } from '../../option-error.ts'
import { SeededRandom } from '../../support/random.ts'
import type { AssumptionResult, BaselineSummary, Exploration, Trial, TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'

/** Version of the file's form. */
export const RESULTS_FORM = 2

/** First line of the file: the terms of the results. Results of other terms must not be mixed with them. */
export interface ResultsHeader {
  form: typeof RESULTS_FORM
  version: string
  command: readonly string[]
  /** Flags that affect a run, as words: `--fixtures`, `--before`. */
  flags: readonly string[]
  /** Digests of the files that the command and the flags name, by word. */
  files: Readonly<Record<string, string>>
  seed: number
  clock: string
  baseline: BaselineSummary
  /** Names of the places at which trials were planned. */
  places: readonly string[]
}

/** Input of a new file. */
export interface ResultsOf extends Pick<Exploration, 'version' | 'command' | 'seed' | 'clock' | 'baseline'> {
  flags: readonly string[]
  trials: readonly Trial[]
}

/** Result of a run with faults, or under another setting of the service. */
type KeptResult = TrialResult | AssumptionResult

/** Results in JSON Lines, written as they come: they survive whatever ends the process. */
export class ResultsFile {
  readonly #path: string
  readonly #file: number
  #digest = NO_LINE

  private constructor(path: string, file: number) {
    this.#path = path
    this.#file = file
  }

  /** Replaces the file by these results, atomically. Throws OptionError. */
  static begin(path: string, of: ResultsOf, results: readonly KeptResult[]): ResultsFile {
    const { version, command, flags, seed, clock, baseline, trials } = of
    const places = placesIn(trials)
    const files = filesOfCommand([...command, ...flags])
    const header: ResultsHeader = { form: RESULTS_FORM, version, command, flags, files, seed, clock, baseline, places }
    // The name must not be guessable: an attacker could put a link to another file there, and that file would be overwritten.
    const temporary = `${path}.${SeededRandom.secret()}.new`
    return written(path, () => {
      const begun = new ResultsFile(path, openSync(temporary, 'ax'))
      try {
        for (const one of [header, ...results]) begun.#append(one)
        renameSync(temporary, path)
        return begun
      } catch (error) {
        closeSync(begun.#file)
        rmSync(temporary, { force: true })
        throw error
      }
    })
  }

  /** Throws OptionError. */
  add(result: KeptResult): void {
    written(this.#path, () => this.#append(result))
  }

  #append(value: ResultsHeader | KeptResult): void {
    const { text, digest } = chainedLine(value, this.#digest)
    appendFileSync(this.#file, text)
    this.#digest = digest
  }
}

function written<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw new OptionError(`--results ${path} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The digest before the first line. */
export const NO_LINE = ''

/** The end of every line. */
const DIGEST = /,"digest":"([0-9a-f]{64})"}$/

/** A line of JSON whose last member is a digest over itself and the line before. */
export interface ChainedLine {
  /** Text of the line, with its line break. */
  text: string
  digest: string
}

/** Writes a value, an object with members, as the line after the one with the digest `before`. */
export function chainedLine(value: object, before: string): ChainedLine {
  const json = JSON.stringify(value)
  const digest = lineDigest(json, before)
  return { text: `${json.slice(0, -1)},"digest":"${digest}"}\n`, digest }
}

/** Number (from 1) of a line that was changed after it was written: edited, moved, or the line before it is gone. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'

  constructor(readonly line: number) {
    super(`line ${line} is not as it was written`)
  }
}

/** Parses lines, and removes their digests. A last line that was cut short is left out. Throws {@link BrokenChain}. */
export function readChained(text: string): unknown[] {
  const complete = text.split('\n').slice(0, -1)
  let before = NO_LINE
  return complete.map((line, i) => {
    const digest = DIGEST.exec(line)?.[1]
    const json = line.replace(DIGEST, '}')
    if (digest === undefined || digest !== lineDigest(json, before)) throw new BrokenChain(i + 1)
    before = digest
    return JSON.parse(json)
  })
}

function lineDigest(json: string, before: string): string {
  return createHash('sha256').update(`${before}\n${json}`).digest('hex')
}

/** Maximum bytes of a file that is read; for a larger one, such as a runtime, size and modification time must do. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Digests of the files that words of a command line name, by word: the command itself and its arguments, as paths from the working
 * directory. Files that those files load are not included.
 */
export function filesOfCommand(words: readonly string[]): Record<string, string> {
  const digests = new Map<string, string>()
  for (const word of words) {
    const digest = fileDigest(word)
    if (digest !== undefined) digests.set(word, digest)
  }
  return Object.fromEntries(digests)
}

function fileDigest(path: string): string | undefined {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) return undefined
    const content = stat.size > MOST_BYTES ? `${stat.size} ${stat.mtimeMs}` : readFileSync(path)
    return createHash('sha256').update(content).digest('hex')
  } catch {
    // Not a file, or not readable: it has no digest.
    return undefined
  }
}
