import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { FoundNamespace, LocatedNamespace } from '../domain/ports/namespace-registry.ts'
import { NamespaceEntry, type NamespaceIdentity, type Opening } from './namespace-entry.ts'

/** Dependencies of {@link NamespaceEntries}. */
interface EntriesDeps {
  opening(one: NamespaceIdentity): Opening
  /** Client ids of the default namespace. */
  defaultClients: ReadonlySet<string>
  /** Called when nothing is left of a namespace. */
  forgotten(name: string): void
}

/**
 * The namespaces that a process knows, by name and by client, those being made or deleted included: a name belongs to one life at a time. The
 * default one is among them in a process of several only.
 */
export class NamespaceEntries {
  readonly #deps: EntriesDeps
  readonly #byName = new Map<string, NamespaceEntry>()
  readonly #byClient = new Map<string, NamespaceEntry>()
  #named = 0

  constructor(deps: EntriesDeps) {
    this.#deps = deps
  }

  get(name: string): NamespaceEntry | undefined {
    return this.#byName.get(name)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  all(): NamespaceEntry[] {
    return [...this.#byName.values()]
  }

  /** All but the default one. */
  others(): NamespaceEntry[] {
    return this.all().filter(({ name }) => name !== DEFAULT_NAMESPACE)
  }

  /** Number of all. */
  get size(): number {
    return this.#byName.size
  }

  /** The namespace of a client; undefined for one of the default namespace, and for an unknown one. */
  ofClient(clientId: string): NamespaceEntry | undefined {
    return this.#byClient.get(clientId)
  }

  /** Name of the namespace of a client; undefined for an unknown one. */
  nameOf(clientId: string): string | undefined {
    return this.#deps.defaultClients.has(clientId) ? DEFAULT_NAMESPACE : this.#byClient.get(clientId)?.name
  }

  /** @returns true if it is open in this process, or is being made in it */
  isHere(name: string): boolean {
    const entry = this.#byName.get(name)
    return entry !== undefined && !entry.deleted && (entry.open !== undefined || entry.inTheMaking)
  }

  /** Registers one that no client can reach yet. */
  set(entry: NamespaceEntry): void {
    this.#byName.set(entry.name, entry)
  }

  /** Lets the clients of one reach it from now on. */
  listen(entry: NamespaceEntry): void {
    for (const { client_id } of Object.values(entry.clients)) this.#byClient.set(client_id, entry)
  }

  /** Lets its clients reach it no more. */
  unlisten(entry: NamespaceEntry): void {
    for (const { client_id } of Object.values(entry.clients)) this.#byClient.delete(client_id)
  }

  /** Registers one that is stored. */
  enter(found: FoundNamespace): void {
    const entry = NamespaceEntry.found(found, this.#deps.opening(found))
    this.set(entry)
    this.listen(entry)
  }

  /** Frees its name. */
  delete(name: string): void {
    this.#byName.delete(name)
    this.#deps.forgotten(name)
  }

  /** Forgets one that is another process's, or was deleted by one. */
  drop(entry: NamespaceEntry): void {
    this.unlisten(entry)
    this.delete(entry.name)
  }

  /** Brings what is known of a namespace that is not open here up to what was found: another process may have made or deleted it. */
  adopt(name: string, found: LocatedNamespace | undefined): void {
    const entry = this.#byName.get(name)
    if (name === DEFAULT_NAMESPACE || this.isHere(name) || entry?.deletion) return
    if (entry && entry.life === found?.life) return
    if (entry) this.drop(entry)
    if (found?.kept) this.enter({ ...found, kept: found.kept })
  }

  /** Waits until a namespace of that name that is being deleted is gone. */
  async untilFree(name: string): Promise<void> {
    for (let entry = this.get(name); entry?.deletion; entry = this.get(name)) {
      await entry.deletion.catch(() => undefined) // then the namespace exists as before
    }
  }

  /** A name that none has. */
  freeName(): string {
    for (;;) {
      this.#named += 1
      const name = `namespace-${this.#named}`
      if (!this.#byName.has(name)) return name
    }
  }
}
