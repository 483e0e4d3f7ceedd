import { breathe } from '../support/breathe.ts'
import type { FleetDoor } from './fleet-door.ts'
import type { Namespaces } from './namespaces.ts'

/** Milliseconds for which new requests of a namespace wait, so that those under way can end and it can be given away. */
const CLOSED_MS = 700

/** Dependencies of {@link Drain}. */
interface DrainDeps {
  namespaces: Namespaces
  door: FleetDoor
}

/**
 * Gives away the namespaces of a process of several while it goes on serving: each as soon as none of its requests is open. For that, new
 * ones wait for a moment. Where others are held, as by a fault, the namespace goes on as before until these have ended.
 */
export class Drain {
  readonly #deps: DrainDeps
  readonly #closed = new Set<string>()

  constructor(deps: DrainDeps) {
    this.#deps = deps
  }

  /** @returns true while new requests of the namespace wait */
  isClosed(name: string): boolean {
    return this.#closed.has(name)
  }

  /** Resolves when all are given away, or the signal is aborted. Rejects if one cannot be ended. */
  async run(over: AbortSignal): Promise<void> {
    for (;;) {
      const names = this.#deps.namespaces.held
      if (names.length === 0 || over.aborted) return
      await Promise.all(names.map((name) => this.#giveAway(name, over)))
    }
  }

  async #giveAway(name: string, over: AbortSignal): Promise<void> {
    const { namespaces, door } = this.#deps
    while (!over.aborted) {
      this.#closed.add(name)
      await breathe() // what was let in before is counted then
      const ended = await door.whenEnded(name, AbortSignal.any([over, door.after(CLOSED_MS)]))
      if (ended) await namespaces.handOver(name)
      this.#closed.delete(name)
      if (ended) return
      await door.whenEnded(name, over)
    }
  }
}
