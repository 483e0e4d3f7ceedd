import type { SandboxClock } from '../../domain/clock.ts'
import { FILTER_LIFE, FILTERS } from '../json-rpc/rpc-budget.ts'

/**
 * The filters that others have in the node, and when each was last asked: the node takes any number, and each fills up with
 * whatever happens until somebody asks.
 */
export class RpcFilters {
  readonly #clock: SandboxClock
  /** By id, the one that was not asked for longest first: when it was asked, in milliseconds of real time. */
  readonly #asked = new Map<unknown, number>()

  constructor(clock: SandboxClock) {
    this.#clock = clock
  }

  /** Call when a filter was made. */
  add(id: unknown): void {
    this.#asked.set(id, this.#clock.wallNow())
  }

  /** Call when somebody asked a filter. */
  touch(id: unknown): void {
    if (this.#asked.delete(id)) this.add(id)
  }

  /** Forgets those that are to be removed now: nobody asked them for long, or there are too many. */
  takeStale(): unknown[] {
    const latest = this.#clock.wallNow() - FILTER_LIFE
    const stale = [...this.#asked].filter(([, asked], index) => asked < latest || this.#asked.size - index > FILTERS)
    for (const [id] of stale) this.#asked.delete(id)
    return stale.map(([id]) => id)
  }
}
