import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { OptionError } from '../../option-error.ts'
import type { BaselineSummary, Exploration, Trial, TrialResult } from '../exploration.ts'
import { placesIn } from '../plan/positions.ts'

/** Of the form of the file. */
export const RESULTS_FORM = 1

/** First line of the file: what results are of; others must not be mixed with them. */
export interface ResultsHeader {
  form: typeof RESULTS_FORM
  version: string
  command: readonly string[]
  /** Those that change what a run does, as words: `--fixtures`, `--before`. */
  flags: readonly string[]
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

  private constructor(path: string) {
    this.#path = path
  }

  /** Replaces what was there by these results, at once or not at all. Throws OptionError. */
  static begin(path: string, of: ResultsOf, results: readonly TrialResult[]): ResultsFile {
    const { version, command, flags, seed, clock, baseline, trials } = of
    const places = placesIn(trials)
    const header: ResultsHeader = { form: RESULTS_FORM, version, command, flags, seed, clock, baseline, places }
    written(path, () => {
      writeFileSync(`${path}.new`, [header, ...results].map(line).join(''))
      renameSync(`${path}.new`, path)
    })
    return new ResultsFile(path)
  }

  /** Throws OptionError. */
  add(result: TrialResult): void {
    written(this.#path, () => appendFileSync(this.#path, line(result)))
  }
}

function written(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new OptionError(`--results ${path} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
