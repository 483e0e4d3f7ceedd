import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Exploration, TrialOutcome } from '../../src/explore/exploration.ts'
import type { ExploreTerms } from '../../src/explore/explore.ts'
import { ENV, exploring } from './exploring.ts'

/** A worker with three orders; `clients/twin-worker.mjs` says which variants there are. */
export const WORKER = [process.execPath, fileURLToPath(new URL('clients/twin-worker.mjs', import.meta.url))]

/** Points at which a second process meets the first one in a fixed order. */
export const HELD = ['twin-while-held-on-request', 'twin-while-under-way', 'twin-while-unanswered']

/** Explores variants of the worker, each with a store of its own. */
export class TwinWorkers implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-twins-'))
  #made = 0

  /** The environment of a variant with an empty store. */
  envOf(variant: Record<string, string>): Record<string, string | undefined> & { STATE_DIR: string } {
    this.#made++
    const STATE_DIR = join(this.#folder, String(this.#made))
    mkdirSync(STATE_DIR)
    return { ...ENV, ...variant, STATE_DIR }
  }

  explore(variant: Record<string, string>, wish: Partial<ExploreTerms> = {}): Promise<Exploration> {
    return exploring(WORKER, { env: this.envOf(variant), twins: true, ...wish })
  }

  /** Outcomes by trial. */
  async outcomes(
    variant: Record<string, string>,
    wish: Partial<ExploreTerms> = {},
  ): Promise<Record<string, TrialOutcome>> {
    const { results } = await this.explore(variant, wish)
    return Object.fromEntries(results.map(({ trial, outcome }) => [trial.id, outcome]))
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** The same outcome of these points at each place. */
export function everywhere(
  places: readonly string[],
  outcome: TrialOutcome,
  points: readonly string[] = HELD,
): Record<string, TrialOutcome> {
  return Object.fromEntries(places.flatMap((place) => points.map((point) => [`${place}@alice ${point}`, outcome])))
}

/** Ids of the processes in this folder of stores that would stay for ever. */
export function staying(folder: string): number[] {
  const files = readdirSync(folder, { recursive: true }).map(String)
  return files.filter((name) => name.endsWith('/stays')).map((name) => Number(readFileSync(join(folder, name), 'utf8')))
}
