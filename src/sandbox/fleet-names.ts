import { Problem } from '../domain/errors.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { LocatedNamespace, SharedRegistry } from '../domain/ports/namespace-registry.ts'
import type { Expiring } from './expiry.ts'
import type { NamespaceEntries } from './namespace-entries.ts'

/** The names of namespaces, of which several processes give each once, and what one of them knows of those of the others. */
export class FleetNames {
  readonly #registry: SharedRegistry
  readonly #entries: NamespaceEntries

  constructor(registry: SharedRegistry, entries: NamespaceEntries) {
    this.#registry = registry
    this.#entries = entries
  }

  /** A name that no process has given. */
  async free(): Promise<string> {
    for (;;) {
      const name = this.#entries.freeName()
      if (!(await this.#registry.locate(name))) return name
    }
  }

  /** Refuses a name that exists in any process. Throws Problem namespace_exists. Returns the number of namespaces beside the default one. */
  async admit(name: string): Promise<number> {
    const found = await this.learn(name)
    const isLeft = found?.kept === null && !found.owner
    if (found && isLeft && name !== DEFAULT_NAMESPACE) await this.#registry.remove(found.life)
    else if (found) throw nameExists(name)
    return this.#registry.count()
  }

  /** Those of nobody that have not been used for that number of milliseconds. */
  async unused(milliseconds: number): Promise<Expiring[]> {
    const entries = this.#entries
    const found = await this.#registry.unused(milliseconds)
    return found.map(({ name, life, kept }) => ({
      name,
      life,
      clients: Object.values(kept?.clients ?? {}).map(({ client_id }) => client_id),
      get busy() {
        return entries.isHere(name) // it was asked for meanwhile
      },
    }))
  }

  /** @returns true if another life has the name by now */
  async isTaken(name: string, life: string): Promise<boolean> {
    const found = await this.#registry.locate(name).catch(() => undefined)
    return found !== undefined && found.life !== life
  }

  /** Finds out what became of a namespace that is not open here: another process may have made it, or deleted it. */
  async learn(name: string): Promise<LocatedNamespace | undefined> {
    const found = await this.#registry.locate(name)
    this.#entries.adopt(name, found)
    return found
  }
}

/** Problem namespace_exists. */
export function nameExists(name: string): Problem {
  return new Problem('namespace_exists', { detail: `There is a namespace "${name}" already.`, param: 'name' })
}
