import type { Credentials, GuestWish, NamespaceSummary, NamespaceWish } from '../control/contract.ts'
import type { NamespacesControl } from '../control/control-parts.ts'
import { Problem } from '../domain/errors.ts'
import { tenantInAddress } from '../domain/idp-claims.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import {
  type FoundNamespace,
  type KeptNamespace,
  type NamespaceRegistry,
  newLife,
} from '../domain/ports/namespace-registry.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { shorten } from '../support/foreign-text.ts'
import type { Logger } from '../support/logger.ts'
import { suggest } from '../support/nearest.ts'
import type { NamespaceCopy } from './build-services.ts'
import { credentialsOf } from './credentials.ts'
import { Namespace } from './namespace.ts'
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

  /** The namespace of that name, opened if necessary. Throws Problem namespace_not_found, or sandbox_starting if it cannot be opened. */
  get(name: string = DEFAULT_NAMESPACE): Namespace | Promise<Namespace> {
    return this.#get(name, 'namespace')
  }

  /** The namespace of that client, opened if necessary; undefined if the client is the default one's or unknown. */
  ofClient(clientId: string): Namespace | Promise<Namespace> | undefined {
    return this.#byClient.get(clientId)?.get()
  }

  /** @returns true if {@link ofClient} finds a namespace */
  leadsElsewhere(clientId: string): boolean {
    return this.#byClient.has(clientId)
  }

  /** The tenant, of any namespace, that an address names in any case, as it is to be written. */
  tenantInAddress(written: string): string | undefined {
    const ids = [this.default, ...this.#entries.values()].flatMap(({ clients }) => Object.keys(clients))
    return ids.find((id) => id === written) ?? ids.flatMap((id) => tenantInAddress(written, id) ?? [])[0]
  }

  list(): NamespaceSummary[] {
    const others = [...this.#entries.values()].filter(({ inTheMaking, deleted }) => !inTheMaking && !deleted)
    return [summaryOf(this.default), ...others.map((one) => one.summary())]
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
      throw error
    })
    this.#listen(entry)
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
    return name === DEFAULT_NAMESPACE ? this.default : this.#require(name, param).get()
  }

  #require(name: string, param = 'namespace'): NamespaceEntry {
    const entry = this.#entries.get(name)
    if (entry && !entry.deleted) return entry
    const known = [DEFAULT_NAMESPACE, ...this.#entries.keys()]
    const detail = `There is no namespace "${shorten(name)}"; ${suggest(name, known)}`
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

/** Identity of a namespace. */
interface NamespaceIdentity {
  name: string
  /** Distinguishes it from every other namespace that has, had or will have its name. */
  life: string
}

/** The two steps of a deletion. */
interface Deletion {
  /** Forgets the namespace: nothing leads to it any more, in this process or a later one. Rejects with nothing done. */
  forget(): Promise<void>
  /** Removes the rest of it once it has ended, its name last. */
  remove(): Promise<void>
}

/** State of a namespace that is not open. */
type Closed =
  | { is: 'making'; made: Promise<Namespace> }
  | { is: 'kept'; kept: KeptNamespace }
  | { is: 'damaged'; failure: Error }

/** Dependencies of an entry. */
interface Opening {
  /** Opens the namespace as it is stored. */
  open(kept: KeptNamespace): Promise<Namespace>
  log: Logger
}

/** Entry of a namespace in the register, from the moment its name is taken until nothing is left, open or not. */
class NamespaceEntry {
  /** Entry of a namespace that is being made; `made` resolves when it can serve. */
  static making(one: NamespaceIdentity, made: Promise<Namespace>, opening: Opening): NamespaceEntry {
    const entry = new NamespaceEntry(one, { is: 'making', made }, opening)
    entry.made.catch(() => undefined) // the caller of create gets the rejection
    return entry
  }

  /** Entry of a namespace that an earlier process left; it is opened at first use. */
  static found(found: FoundNamespace, opening: Opening): NamespaceEntry {
    if ('kept' in found) return new NamespaceEntry(found, { is: 'kept', kept: found.kept }, opening)
    const { failure } = found
    const entry = new NamespaceEntry(found, { is: 'damaged', failure }, opening)
    entry.#failure = failure.message
    return entry
  }

  readonly name: string
  /** Distinguishes it from every other namespace that has, had or will have its name. */
  readonly life: string
  #closed: Closed
  readonly #opener: Opening['open']
  readonly #log: Logger
  #namespace: Namespace | undefined
  #opening: Promise<Namespace> | undefined
  #losing: Promise<void> | undefined
  #failure: string | undefined
  #deletion: Promise<void> | undefined
  #deleted = false
  #ended: Promise<void> | undefined

  private constructor({ name, life }: NamespaceIdentity, closed: Closed, { open, log }: Opening) {
    this.name = name
    this.life = life
    this.#closed = closed
    this.#opener = open
    this.#log = log
  }

  /** The namespace, if it is open. */
  get open(): Namespace | undefined {
    return this.#namespace
  }

  /** @returns true while it is being made and nothing of it exists yet */
  get inTheMaking(): boolean {
    return this.#closed.is === 'making' && this.#namespace === undefined
  }

  /** The namespace, opened if necessary. Throws Problem sandbox_starting if it cannot be opened. */
  get(): Namespace | Promise<Namespace> {
    return this.#namespace ?? this.#opening ?? this.#open()
  }

  /** The namespace, opened if necessary. Rejects with the reason why it cannot be made or opened. */
  get made(): Promise<Namespace> {
    return Promise.resolve(this.get())
  }

  /** Its clients by tenant id, as far as they are known. */
  get clients(): KeptNamespace['clients'] {
    if (this.#namespace) return this.#namespace.clients
    return this.#closed.is === 'kept' ? this.#closed.kept.clients : {}
  }

  /** Summary for a list of namespaces. */
  summary(): NamespaceSummary {
    if (this.#namespace) return summaryOf(this.#namespace)
    const kept = this.#closed.is === 'kept' ? this.#closed.kept : undefined
    const known = kept && { seed: kept.seed, created_at: kept.created_at }
    const readiness = { ready: this.#failure === undefined, ...reasonOf(this.#failure) }
    const traffic = { requests: 0, last_request_at: null, failed_findings: null }
    return { name: this.name, ...known, ...readiness, tenants: slugsOf(this.clients), ...traffic }
  }

  /** @returns true once it is no longer stored, though its name and files may still exist */
  get deleted(): boolean {
    return this.#deleted
  }

  /** Its deletion, once begun; see {@link delete}. */
  get deletion(): Promise<void> | undefined {
    return this.#deletion
  }

  /**
   * Deletes it, once it is made; resolves when nothing is left except files that the next start removes. Later callers wait for the same
   * deletion. Rejects, with nothing done, if it cannot be forgotten.
   */
  delete(steps: Deletion): Promise<void> {
    this.#deletion ??= this.#delete(steps).catch((error: unknown) => {
      this.#deletion = undefined
      throw error
    })
    return this.#deletion
  }

  /** Ends it; if it is being opened, once it is open. May be called again. */
  end(served?: Promise<void>): Promise<void> {
    this.#ended ??= this.#end(served)
    return this.#ended
  }

  async #delete({ forget, remove }: Deletion): Promise<void> {
    await forget()
    this.#deleted = true
    for (const step of [() => this.end(), remove]) {
      await step().catch((error: unknown) =>
        this.#log.warn(
          { namespace: this.name, err: error },
          'a deleted namespace left something; it goes at the next start',
        ),
      )
    }
  }

  async #end(served: Promise<void> | undefined): Promise<void> {
    const namespace = this.#namespace ?? (await this.#opening?.catch(() => undefined))
    namespace?.beginStop()
    await namespace?.stop(served, { discarded: this.#deleted })
    await this.#losing
  }

  #open(): Promise<Namespace> {
    this.#opening = this.#opened()
      .then((namespace) => {
        this.#namespace = namespace
        this.#failure = undefined
        const { lost } = namespace
        if (lost?.aborted) throw this.#lose(namespace)
        lost?.addEventListener('abort', () => void (this.#ended ?? this.#deletion ?? this.#lose(namespace)), {
          once: true,
        })
        return namespace
      })
      .catch((error: unknown) => {
        if (this.#closed.is === 'making') throw error
        this.#failure = error instanceof Error ? error.message : String(error)
        this.#log.error({ namespace: this.name, err: error }, 'a namespace could not be opened')
        const detail = `The namespace "${this.name}" cannot be opened: ${this.#failure}`
        throw new Problem('sandbox_starting', { detail, param: 'namespace' }, { cause: error })
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  async #opened(): Promise<Namespace> {
    if (this.#closed.is === 'making') return this.#closed.made
    if (this.#closed.is === 'damaged') throw this.#closed.failure
    await this.#losing
    return this.#opener(this.#closed.kept)
  }

  /** Ends it after its state was lost to another process. Its next use opens it again, if it is to be had then. Returns the reason. */
  #lose(namespace: Namespace): Error {
    const reason = 'another process has its stored state now'
    this.#log.warn({ namespace: this.name }, reason)
    this.#closed = { is: 'kept', kept: keptOf(namespace) }
    this.#namespace = undefined
    this.#losing = namespace.stop(undefined).catch((error: unknown) => {
      this.#log.warn({ namespace: this.name, err: error }, 'a namespace whose state was lost did not end in order')
    })
    return new Error(`${reason}.`)
  }
}

/** Summary of an open namespace for a list of namespaces. */
function summaryOf(namespace: Namespace): NamespaceSummary {
  const { name, seed, created_at, clients } = namespace
  const { exchanges } = namespace.services
  const { newestAt } = exchanges
  const traffic = {
    requests: exchanges.size,
    last_request_at: newestAt === null ? null : new Date(newestAt).toISOString(),
    failed_findings: namespace.overview.brokenRules,
  }
  return { name, seed, created_at, ...namespace.readiness(), tenants: slugsOf(clients), ...traffic }
}

function slugsOf(clients: KeptNamespace['clients']): string[] {
  return Object.values(clients).map(({ slug }) => slug)
}

function reasonOf(reason: string | undefined) {
  return reason !== undefined && { reason }
}
