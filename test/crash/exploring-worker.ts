import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Exploration } from '../../src/explore/exploration.ts'
import type { ExploreTerms } from '../../src/explore/explore.ts'
import { ENV, exploring } from '../explore/exploring.ts'

/** How a worker is started again after a kill. */
const RESTART = { recover: undefined, kill: undefined, restarts: 3 }

/** A worker by the commands that start it and print its books. */
export interface WorkerCommands {
  work: readonly string[]
  books: readonly string[]
  env?: Record<string, string>
}

/** Repetitions and selection of `npm run test:crashes`; 0 repetitions: a part of it, once. */
export const TIMES = Number(process.env.CRASH_TIMES ?? 0)
/** Numbers of the repetitions, which are seeds as well. */
export const SEEDS = Array.from({ length: Math.max(1, TIMES) }, (_, i) => i + 1)

/** Explores workers whose databases stand in one folder, each run with its own. */
export class WorkerExplorations implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-workers-'))

  /** Explores with faults, or what `wish` names. */
  explore({ work, env = {} }: WorkerCommands, wish: Partial<ExploreTerms> = {}): Promise<Exploration> {
    return exploring(work, { env: { ...ENV, ...env, WORKER_DIR: this.#folder }, ...wish })
  }

  /** Kills the worker at every point, or at those that `wish` names. */
  kill(worker: WorkerCommands, wish: Partial<ExploreTerms> = {}): Promise<Exploration> {
    return this.explore(worker, { crash: RESTART, ...wish })
  }

  /** Runs a second worker beside the first. */
  twin(worker: WorkerCommands, wish: Partial<ExploreTerms> = {}): Promise<Exploration> {
    return this.explore(worker, { twins: true, ...wish })
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** The command line that prints the books of a worker. */
export function booksOf({ books }: WorkerCommands): string {
  return books.map((word) => `'${word}'`).join(' ')
}
