import { appendFileSync, closeSync, openSync, renameSync, rmSync } from 'node:fs'
import { OptionError } from '../../option-error.ts'
import { SeededRandom } from '../../support/random.ts'
import type { BaselineSummary, Exploration, Trial, TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'
import { chainedLine, NO_LINE } from './chained-lines.ts'
import { filesOfCommand } from './files-of-command.ts'

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
