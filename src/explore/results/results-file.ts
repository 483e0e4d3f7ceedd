import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { OptionError } from '../../option-error.ts'
import { SeededRandom } from '../../support/random.ts'
import type { BaselineSummary, Exploration, Trial, TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'

/** Of the form of the file. */
export const RESULTS_FORM = 2

/** First line of the file: what results are of; others must not be mixed with them. */
export interface ResultsHeader {
  form: typeof RESULTS_FORM
  version: string
  command: readonly string[]
  /** Those that change what a run does, as words: `--fixtures`, `--before`. */
  flags: readonly string[]
  /** Digests of the files that the command and the flags name, by their words. */
  files: Readonly<Record<string, string>>
  seed: number
  clock: string
  baseline: BaselineSummary
  /** Names of the places where something was to go wrong. */
  places: readonly string[]
}

/** What a file is begun with. */
export interface ResultsOf extends Pick<Exploration, 'version' | 'command' | 'seed' | 'clock' | 'baseline'> {
  flags: readonly string[]
  trials: readonly Trial[]
}

/** Results in JSON Lines, as they come: whatever ends the process, those that there were are kept. */
export class ResultsFile {
  readonly #path: string
  readonly #file: number
  #digest = NO_LINE

  private constructor(path: string, file: number) {
    this.#path = path
    this.#file = file
  }

  /** Replaces what was there by these results, at once or not at all. Throws OptionError. */
  static begin(path: string, of: ResultsOf, results: readonly TrialResult[]): ResultsFile {
    const { version, command, flags, seed, clock, baseline, trials } = of
    const places = placesIn(trials)
    const files = filesOfCommand([...command, ...flags])
    const header: ResultsHeader = { form: RESULTS_FORM, version, command, flags, files, seed, clock, baseline, places }
    // A name that nobody can know before: what others put there, a link to a file of yours, would be written through.
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
  add(result: TrialResult): void {
    written(this.#path, () => this.#append(result))
  }

  #append(value: ResultsHeader | TrialResult): void {
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

/** What the digest of the first line goes on from. */
export const NO_LINE = ''

/** What stands at the end of every line. */
const DIGEST = /,"digest":"([0-9a-f]{64})"}$/

/** A line of JSON that has as its last member a digest over itself and the line before. */
export interface ChainedLine {
  /** With its line break. */
  text: string
  digest: string
}

/** Writes a value, which must be an object with members, as the line after the one of this digest. */
export function chainedLine(value: object, before: string): ChainedLine {
  const json = JSON.stringify(value)
  const digest = lineDigest(json, before)
  return { text: `${json.slice(0, -1)},"digest":"${digest}"}\n`, digest }
}

/** A line that was not written so, from 1: edited, moved, or one before it is gone. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'

  constructor(readonly line: number) {
    super(`line ${line} is not as it was written`)
  }
}

/** What lines say, without their digests. A last line that was cut short is left out. Throws {@link BrokenChain}. */
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

/** Bytes of a file that is read; of a greater one, such as a runtime, the size and the time of its last change have to do. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Digests of the files that words of a command line name, by word: the command itself and arguments, as paths from the working
 * directory. What those files load is not among them.
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
    // No file, or one that may not be read: nothing is known of it.
    return undefined
  }
}
