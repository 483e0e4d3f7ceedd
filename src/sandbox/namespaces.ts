import type { Credentials, GuestWish, NamespaceSummary, NamespaceWish } from '../control/contract.ts'
import type { NamespacesControl } from '../control/control-parts.ts'
import { isControlToken } from '../control/guard.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { tenantInAddress } from '../domain/idp-claims.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import { type NamespaceRegistry, newLife } from '../domain/ports/namespace-registry.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import { type NamespaceCopy, ownControlToken } from './build-services.ts'
import { credentialsOf } from './credentials.ts'
import { Expiry } from './expiry.ts'
import { Namespace } from './namespace.ts'
import { type Deletion, NamespaceEntry, type NamespaceIdentity, type Opening, summaryOf } from './namespace-entry.ts'
import {
  auditAfterKill,
  keptOf,
  type Making,
  makeGuestNamespace,
  makeNamespace,
  openKept,
  Templates,
} from './open-namespace.ts'
import type { Persistence } from './persistence.ts'
import type { Surroundings } from './surroundings.ts'

/** All namespaces of a sandbox: finds them by name and by client id, creates and deletes them. */
export class Namespaces implements NamespacesControl {
  /**
   * Opens the default namespace, with the sandbox's own options, and finds the stored ones. Throws as
   * {@link Namespace.over}.
   */
  static async open({ fixture, begin, stored, surroundings, spawned }: NamespacesSetup): Promise<Namespaces> {
    const { seed, clock: clockStart, confirmationDelay } = surroundings.options
    const wanted = {
      name: DEFAULT_NAMESPACE,
      life: undefined,
      fixture,
      seed,
      clockStart,
      confirmationDelay,
      begin,
    }
    const first = await Namespace.over(stored?.persistence, { ...wanted, surroundings, spawned })
    const registry = stored?.registry
    const namespaces = new Namespaces(first, { registry, surroundings, templates: new Templates() })
    namespaces.#templates.add(
      first,
      first.ready.then(() => first),
    )
    try {
      await namespaces.#find()
      void auditAfterKill(first, surroundings.log)
      return namespaces
    } catch (error) {
      namespaces.beginStop()
      await namespaces.stop()
      await surroundings.pool.stop()
      throw error
    }
  }

  readonly default: Namespace
  readonly #surroundings: Surroundings
  /** Undefined if namespaces end with the process. */
  readonly #registry: NamespaceRegistry | undefined
  readonly #templates: Templates
  /** All but the default one, including those being made or deleted: a name belongs to one life at a time. */
  readonly #entries = new Map<string, NamespaceEntry>()
  readonly #byClient = new Map<string, NamespaceEntry>()
  readonly #expiry: Expiry
  #named = 0
  #madeByOthers = 0

  private constructor(
    first: Namespace,
    { registry, surroundings, templates }: Pick<Making, 'registry' | 'surroundings' | 'templates'>,
  ) {
    this.default = first
    this.#registry = registry
    this.#surroundings = surroundings
    this.#templates = templates
    this.#expiry = new Expiry({
      after: surroundings.options.namespaceExpiry,
      clock: new SandboxClock(), // for real time only
      log: surroundings.log,
      expiring: () => [...this.#entries.values()].flatMap((entry) => entry.expiring),
      remove: (name) => this.delete(name),
    })
  }

  /** The namespaces of a sandbox within this one; they end with the process. Throws Problem. */
  async ofGuest(wish: Omit<GuestWish, 'pid'>, surroundings: Surroundings): Promise<Namespaces> {
    const shared = { templates: this.#templates, surroundings }
    const first = await makeGuestNamespace({ ...shared, wish, source: this.default })
    return new Namespaces(first, { ...shared, registry: undefined })
  }

  /** Number of namespaces beside the default one. */
  get size(): number {
    return this.#entries.size
  }

  /** True if every client is the default namespace's or unknown. */
  get alone(): boolean {
    return this.#entries.size === 0 && !this.#expiry.hasDeleted
  }

  /** The namespace of that name, opened if necessary. Throws Problem namespace_not_found, or sandbox_starting if it cannot be opened. */
  get(name: string = DEFAULT_NAMESPACE): Namespace | Promise<Namespace> {
    return this.#get(name, 'namespace')
  }

  /**
   * The namespace of that client, opened if necessary; undefined if the client is the default one's or unknown. Rejects with Problem
   * unknown_partner if the namespace was deleted for want of use.
   */
  ofClient(clientId: string): Namespace | Promise<Namespace> | undefined {
    const entry = this.#byClient.get(clientId)
    if (entry) return this.#use(entry)
    const refusal = this.#expiry.refusalOf(clientId)
    return refusal && Promise.reject(refusal)
  }

  /** @returns true if {@link ofClient} does not return undefined */
  leadsElsewhere(clientId: string): boolean {
    return this.#byClient.has(clientId) || this.#expiry.refusalOf(clientId) !== undefined
  }

  /** The tenant, of any namespace, that an address names in any case, as it is to be written. */
  tenantInAddress(written: string): string | undefined {
    const ids = [this.default, ...this.#entries.values()].flatMap(({ clients }) => Object.keys(clients))
    return ids.find((id) => id === written) ?? ids.flatMap((id) => tenantInAddress(written, id) ?? [])[0]
  }

  list(): NamespaceSummary[] {
    return [summaryOf(this.default), ...this.#made().map((one) => one.summary())]
  }

  /** Every namespace with its summary; `open` is undefined for a stored one that nobody has asked for yet. */
  known(): { summary: NamespaceSummary; open: Namespace | undefined }[] {
    const others = this.#made().map((one) => ({ summary: one.summary(), open: one.open }))
    return [{ summary: summaryOf(this.default), open: this.default }, ...others]
  }

  /** All but the default one, those being made or deleted left out. */
  #made(): NamespaceEntry[] {
    return [...this.#entries.values()].filter(({ inTheMaking, deleted }) => !inTheMaking && !deleted)
  }

  summary(name: string): NamespaceSummary {
    return name === DEFAULT_NAMESPACE ? summaryOf(this.default) : this.#require(name).summary()
  }

  /** Name of the namespace that has this text for its own control token; undefined if none has. */
  ofControlToken(text: string): string | undefined {
    const name = text.slice(0, text.lastIndexOf('.'))
    const entry = this.#entries.get(name)
    if (entry?.inTheMaking) return undefined
    // That of one that has expired leads to the reason.
    const named = entry && !entry.deleted ? entry : this.#expiry.expired(name)
    const own = named && ownControlToken(this.#surroundings.options, named)
    return own !== undefined && isControlToken(text, own) ? name : undefined
  }

  /** Name of the namespace of a client; undefined for an unknown one. */
  nameOfClient(clientId: string): string | undefined {
    const isDefault = Object.values(this.default.clients).some(({ client_id }) => client_id === clientId)
    return isDefault ? DEFAULT_NAMESPACE : this.#byClient.get(clientId)?.name
  }

  /** Number of namespaces made by requests from the network: a command that makes its own is not seen in the namespace it was given. */
  get madeByOthers(): number {
    return this.#madeByOthers
  }

  async create(wish: NamespaceWish, byOthers: boolean): Promise<Credentials> {
    const { log, options } = this.#surroundings
    const name = wish.name ?? this.#freeName()
    await this.#untilFree(name)
    if (name === DEFAULT_NAMESPACE || this.#entries.has(name)) {
      throw new Problem('namespace_exists', { detail: `There is a namespace "${name}" already.`, param: 'name' })
    }
    if (this.size >= options.maxNamespaces) {
      const detail = `There are ${this.size} namespaces beside the default one; delete some, or start with a larger --max-namespaces.`
      throw new Problem('too_many_namespaces', { detail, param: 'name' })
    }
    const life = newLife(name)
    const made = this.#make({ name, life }, wish)
    const entry = NamespaceEntry.making({ name, life }, made, { open: this.#opener({ name, life }), log })
    this.#entries.set(name, entry)
    const namespace = await entry.made.catch((error: unknown) => {
      this.#entries.delete(name)
      this.#surroundings.meter.forget(name)
      throw error
    })
    this.#listen(entry)
    this.#expiry.used(entry)
    this.#expiry.madeAgain(name)
    if (byOthers) this.#madeByOthers++
    this.#surroundings.news.tell()
    return credentialsOf(namespace, this.#surroundings)
  }

  async delete(name: string): Promise<void> {
    if (name === DEFAULT_NAMESPACE) {
      const detail = 'The default namespace cannot be deleted; reset it, or stop the sandbox.'
      throw new Problem('validation_error', { detail, param: 'namespace' })
    }
    const ending = this.#entries.get(name)?.deletion
    if (ending) return ending
    const entry = this.#require(name)
    if (entry.inTheMaking) {
      await entry.made.catch(() => undefined) // then no namespace has that name
      return this.delete(name)
    }
    await entry.delete(this.#deletionOf(entry))
  }

  /** Refuses new requests, in every namespace, and lets running ones finish. */
  beginStop(): void {
    this.#expiry.stop()
    this.default.beginStop()
    for (const { open } of this.#entries.values()) open?.beginStop()
  }

  /** Ends all, once no request is left. Call {@link beginStop} first. Throws, when all have ended, the error of one that failed to end. */
  async stop(served?: Promise<void>): Promise<void> {
    const others = [...this.#entries.values()].map((entry) => entry.end(served))
    const ends = await Promise.allSettled([this.default.stop(served), ...others])
    await Promise.allSettled([...this.#entries.values()].map(({ deletion }) => deletion))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #make({ name, life }: NamespaceIdentity, wish: NamespaceWish): Promise<Namespace> {
    const registry = this.#registry
    const source = await this.#get(wish.from ?? DEFAULT_NAMESPACE, 'from')
    await this.default.checkStorage() // otherwise its folder would be made in a directory that replaced the old one
    let namespace: Namespace | undefined
    try {
      const own = { templates: this.#templates, registry, surroundings: this.#surroundings }
      namespace = await makeNamespace({ name, life, wish, source, ...own })
      await registry?.keep(life, keptOf(namespace))
      return namespace
    } catch (error) {
      namespace?.beginStop()
      await namespace?.stop(undefined).catch(() => undefined) // the first error says more
      await registry?.remove(life).catch(() => undefined) // the next start removes it
      throw error
    }
  }

  /** Registers the namespaces that an earlier process left. */
  async #find(): Promise<void> {
    const registry = this.#registry
    if (!registry) return
    for (const found of await registry.list()) {
      const entry = NamespaceEntry.found(found, { open: this.#opener(found), log: this.#surroundings.log })
      this.#entries.set(found.name, entry)
      this.#listen(entry)
    }
  }

  /** Opens a namespace as it is stored. */
  #opener(one: NamespaceIdentity): Opening['open'] {
    const where = { host: this.default.fixture, registry: this.#registry, surroundings: this.#surroundings }
    return (kept) => openKept(one, kept, where)
  }

  /** Lets its clients reach it from now on. */
  #listen(entry: NamespaceEntry): void {
    for (const { client_id } of Object.values(entry.clients)) this.#byClient.set(client_id, entry)
  }

  #get(name: string, param: string): Namespace | Promise<Namespace> {
    return name === DEFAULT_NAMESPACE ? this.default : this.#use(this.#require(name, param))
  }

  #use(entry: NamespaceEntry): Namespace | Promise<Namespace> {
    this.#expiry.used(entry)
    return entry.get()
  }

  #require(name: string, param = 'namespace'): NamespaceEntry {
    const entry = this.#entries.get(name)
    if (entry && !entry.deleted) return entry
    const known = [DEFAULT_NAMESPACE, ...this.#entries.keys()]
    const detail = this.#expiry.whyGone(name) ?? `There is no namespace "${shorten(name)}"; ${suggest(name, known)}`
    throw new Problem('namespace_not_found', { detail, param })
  }

  #deletionOf(entry: NamespaceEntry): Deletion {
    return {
      forget: async () => {
        await this.default.checkStorage() // otherwise the namespace would come back with the directory
        await this.#registry?.forget(entry.life)
        for (const { client_id } of Object.values(entry.clients)) this.#byClient.delete(client_id)
        entry.open?.overview.end('deleted')
        this.#surroundings.news.tell()
      },
      remove: async () => {
        try {
          await this.#registry?.remove(entry.life)
        } finally {
          this.#entries.delete(entry.name)
          this.#surroundings.meter.forget(entry.name)
        }
      },
    }
  }

  /** Waits until a namespace of that name that is being deleted is gone. */
  async #untilFree(name: string): Promise<void> {
    for (let entry = this.#entries.get(name); entry?.deletion; entry = this.#entries.get(name)) {
      await entry.deletion.catch(() => undefined) // then the namespace exists as before
    }
  }

  #freeName(): string {
    for (;;) {
      this.#named += 1
      const name = `namespace-${this.#named}`
      if (!this.#entries.has(name)) return name
    }
  }
}

/** Dependencies of {@link Namespaces}. */
export interface NamespacesSetup {
  fixture: Fixture
  /** State with which the default namespace begins; undefined: the stored state, or the fixture. */
  begin: NamespaceCopy | undefined
  /** The stored state of the default namespace, closed if that cannot be opened, and where the others are; undefined: nothing is stored. */
  stored: { persistence: Persistence; registry: NamespaceRegistry } | undefined
  surroundings: Surroundings
  /** Called when the first Anvil of the default namespace has been started. */
  spawned(): void
}
