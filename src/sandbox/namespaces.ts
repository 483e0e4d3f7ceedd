import type { Credentials, NamespaceSummary, NamespaceWish } from '../control/contract.ts'
import type { NamespacesControl } from '../control/control-parts.ts'
import { Problem } from '../domain/errors.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { suggest } from '../support/nearest.ts'
import { shorten } from '../support/shorten.ts'
import { credentialsOf } from './credentials.ts'
import { makeNamespace } from './make-namespace.ts'
import { Namespace } from './namespace.ts'
import type { Surroundings } from './surroundings.ts'
import { Templates } from './templates.ts'

/** A namespace as it is registered, from the moment its name is taken. */
interface Entry {
  /** ISO 8601 UTC, wall-clock time. */
  created_at: string
  /** Undefined while it is made. */
  namespace: Namespace | undefined
  opening: Promise<Namespace>
}

/** Every namespace of a sandbox: leads to them by name and by client id, makes and ends them. */
export class Namespaces implements NamespacesControl {
  readonly default: Namespace
  readonly #surroundings: Surroundings
  readonly #templates = new Templates()
  readonly #entries = new Map<string, Entry>()
  readonly #byClient = new Map<string, Namespace>()
  #made = 0

  /** Opens the default one, from the fixture the sandbox was started with. Throws as {@link Namespace.open}. */
  static async open(fixture: Fixture, surroundings: Surroundings): Promise<Namespaces> {
    const { dataDir, seed, clock: clockStart, confirmationDelay } = surroundings.options
    const wanted = { name: DEFAULT_NAMESPACE, fixture, seed, clockStart, confirmationDelay, dataDir }
    try {
      return new Namespaces(await Namespace.open({ ...wanted, surroundings }), surroundings)
    } catch (error) {
      await surroundings.pool.stop()
      throw error
    }
  }

  private constructor(first: Namespace, surroundings: Surroundings) {
    this.default = first
    this.#surroundings = surroundings
    this.#add(DEFAULT_NAMESPACE, Promise.resolve(first)).namespace = first
    this.#templates.add(
      first,
      first.ready.then(() => first),
    )
  }

  /** How many there are beside the default one. */
  get size(): number {
    return this.#entries.size - 1
  }

  /** The namespace of that name; a promise while it is made. Throws Problem namespace_not_found. */
  get(name: string = DEFAULT_NAMESPACE): Namespace | Promise<Namespace> {
    const entry = this.#entries.get(name)
    if (!entry) throw this.#unknown(name)
    return entry.namespace ?? entry.opening
  }

  /** The namespace of that name, if it is there and at hand. */
  peek(name: string): Namespace | undefined {
    return this.#entries.get(name)?.namespace
  }

  /** The namespace of that client; undefined if it is the default one's, or nobody's. */
  ofClient(clientId: string): Namespace | undefined {
    return this.#byClient.get(clientId)
  }

  /** @returns true if a tenant has this id in any namespace that can serve */
  hasTenant(tenantId: string): boolean {
    for (const { namespace } of this.#entries.values()) {
      if (namespace?.fixture.tenants.some(({ tenant }) => tenant.tenant_id === tenantId)) return true
    }
    return false
  }

  list(): NamespaceSummary[] {
    return [...this.#entries].flatMap(([name, { namespace, created_at }]) => {
      if (!namespace) return []
      const tenants = namespace.fixture.tenants.map(({ tenant }) => tenant.slug)
      return [{ name, seed: namespace.seed, created_at, ...namespace.readiness(), tenants }]
    })
  }

  async create(wish: NamespaceWish): Promise<Credentials> {
    const { maxNamespaces } = this.#surroundings.options
    const name = wish.name ?? this.#freeName()
    if (this.#entries.has(name)) {
      throw new Problem('namespace_exists', { detail: `There is a namespace "${name}" already.`, param: 'name' })
    }
    if (this.size >= maxNamespaces) {
      const detail = `There are ${maxNamespaces} namespaces beside the default one; delete some, or start with a larger --max-namespaces.`
      throw new Problem('too_many_namespaces', { detail, param: 'name' })
    }
    const entry = this.#add(name, this.#make(name, wish))
    try {
      const namespace = await entry.opening
      const credentials = await credentialsOf(namespace, this.#surroundings)
      entry.namespace = namespace
      for (const { client_id } of credentials.tenants) this.#byClient.set(client_id, namespace)
      return credentials
    } catch (error) {
      this.#entries.delete(name)
      throw error
    }
  }

  async delete(name: string): Promise<void> {
    if (name === DEFAULT_NAMESPACE) {
      const detail = 'The default namespace cannot be deleted; reset it, or stop the sandbox.'
      throw new Problem('validation_error', { detail, param: 'namespace' })
    }
    const entry = this.#entries.get(name)
    if (!entry) throw this.#unknown(name)
    const { namespace } = entry
    if (!namespace) throw new Problem('sandbox_starting', { detail: 'The namespace is being made.' })
    this.#entries.delete(name)
    for (const { tenant } of namespace.fixture.tenants) this.#byClient.delete(tenant.client_id)
    namespace.beginStop()
    await namespace.stop(undefined)
  }

  /** Takes nothing more, in any namespace, and answers what is under way. */
  beginStop(): void {
    for (const { namespace } of this.#entries.values()) namespace?.beginStop()
  }

  /** Ends all, once nobody asks any more. Call {@link beginStop} first. */
  async stop(served: Promise<void> | undefined): Promise<void> {
    const ending = [...this.#entries.values()].map(async ({ opening }) => {
      const namespace = await opening.catch(() => undefined)
      namespace?.beginStop() // it may have been in the making
      await namespace?.stop(served)
    })
    await Promise.all(ending)
    await this.#surroundings.pool.stop()
  }

  #add(name: string, opening: Promise<Namespace>): Entry {
    const created_at = new Date(this.default.services.service.clock.wallNow()).toISOString()
    const entry: Entry = { created_at, namespace: undefined, opening }
    opening.catch(() => undefined) // told to whoever asked for it
    this.#entries.set(name, entry)
    return entry
  }

  async #make(name: string, wish: NamespaceWish): Promise<Namespace> {
    const source = await this.get(wish.from)
    return makeNamespace({ name, wish, source, templates: this.#templates, surroundings: this.#surroundings })
  }

  #freeName(): string {
    for (;;) {
      this.#made += 1
      const name = `namespace-${this.#made}`
      if (!this.#entries.has(name)) return name
    }
  }

  #unknown(name: string): Problem {
    const detail = `There is no namespace "${shorten(name)}"; ${suggest(name, [...this.#entries.keys()])}`
    return new Problem('namespace_not_found', { detail, param: 'namespace' })
  }
}
