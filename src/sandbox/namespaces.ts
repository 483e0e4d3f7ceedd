import type { Credentials, GuestWish, NamespaceSummary, NamespaceWish, Readiness } from '../control/contract.ts'
import type { NamespacesControl } from '../control/control-parts.ts'
import { isControlToken } from '../control/guard.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { tenantInAddress } from '../domain/idp-claims.ts'
import { DEFAULT_NAMESPACE, NAMESPACE_NAME } from '../domain/namespace-name.ts'
import {
  type LocatedNamespace,
  type NamespaceRegistry,
  newLife,
  type SharedRegistry,
} from '../domain/ports/namespace-registry.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { ownerAway } from '../http/front-server.ts'
import { type PipelineDeps, refuseUnlessReady } from '../http/pipeline.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import { type NamespaceCopy, ownControlToken } from './build-services.ts'
import { credentialsOf } from './credentials.ts'
import { Expiry } from './expiry.ts'
import { FleetNames, nameExists } from './fleet-names.ts'
import { Namespace } from './namespace.ts'
import { NamespaceEntries } from './namespace-entries.ts'
import {
  type Deletion,
  isOwnedElsewhere,
  NamespaceEntry,
  type NamespaceIdentity,
  type Opening,
  summaryOf,
} from './namespace-entry.ts'
import {
  auditAfterKill,
  type Base,
  defaultAsFound,
  keptOf,
  type Making,
  makeGuestNamespace,
  makeNamespace,
  openDefault,
  openKept,
  Templates,
} from './open-namespace.ts'
import { Openings } from './openings.ts'
import type { Persistence } from './persistence.ts'
import { standInFor } from './stand-in.ts'
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

  /**
   * The namespaces of one process of several, all of which make them from this base. It opens none: each, the default one too, is taken when
   * somebody asks for it.
   */
  static async ofFleet({ base, registry, surroundings, leaving }: FleetSetup): Promise<Namespaces> {
    let namespaces: Namespaces | undefined
    const failure = () => (namespaces ? namespaces.#entries.get(DEFAULT_NAMESPACE)?.failure : undefined)
    const standIn = await standInFor(base, { surroundings, registry, failure })
    const fleet = { base, registry, standIn, leaving }
    namespaces = new Namespaces(undefined, { registry, surroundings, templates: new Templates(), fleet })
    return namespaces
  }

  /** What new namespaces are made from, and what is known of the default one without opening it. */
  readonly base: Base
  readonly #default: Namespace | undefined
  /** Set in a process of several. */
  readonly #fleet: FleetParts | undefined
  readonly #surroundings: Surroundings
  /** Undefined if namespaces end with the process. */
  readonly #registry: NamespaceRegistry | undefined
  readonly #templates: Templates
  /** All but the default one, unless it is as the others in a process of several. */
  readonly #entries: NamespaceEntries
  readonly #openings: Openings
  /** Set in a process of several. */
  readonly #names: FleetNames | undefined
  readonly #expiry: Expiry
  #madeByOthers = 0

  private constructor(first: Namespace | undefined, { registry, surroundings, templates, fleet }: NamespacesDeps) {
    const base = first ?? fleet?.base
    if (!base) throw new TypeError('a sandbox has a default namespace, or the base of one')
    this.base = base
    this.#default = first
    this.#fleet = fleet
    this.#registry = registry
    this.#surroundings = surroundings
    this.#templates = templates
    this.#openings = new Openings(surroundings.log)
    this.#entries = new NamespaceEntries({
      opening: (one) => this.#opening(this.#opener(one)),
      defaultClients: new Set(base.fixture.tenants.map(({ tenant }) => tenant.client_id)),
      forgotten: (name) => surroundings.meter.forget(name),
    })
    const names = fleet && new FleetNames(fleet.registry, this.#entries)
    this.#names = names
    this.#expiry = new Expiry({
      after: surroundings.options.namespaceExpiry,
      clock: new SandboxClock(), // for real time only
      log: surroundings.log,
      expiring: () => this.#entries.others().flatMap((entry) => entry.expiring),
      resting: names && ((after) => names.unused(after)),
      remove: (name) => this.delete(name),
    })
    if (fleet) this.#entries.set(this.#defaultEntry(fleet))
  }

  /** The namespaces of a sandbox within this one; they end with the process. Throws Problem. */
  async ofGuest(wish: Omit<GuestWish, 'pid'>, surroundings: Surroundings): Promise<Namespaces> {
    const shared = { templates: this.#templates, surroundings }
    const first = await makeGuestNamespace({ ...shared, wish, source: await this.#source() })
    return new Namespaces(first, { ...shared, registry: undefined })
  }

  /** The namespace that every sandbox has. */
  get default(): Namespace {
    if (!this.#default) throw new TypeError('no process of several has the default namespace for itself')
    return this.#default
  }

  /**
   * The namespace of requests that concern none, and of those of unknown clients: the default one. In a process that does not have it,
   * a stand-in that serves nothing.
   */
  get fallback(): PipelineDeps {
    return (
      (this.#default ?? this.#entries.get(DEFAULT_NAMESPACE)?.open)?.http ?? this.#fleet?.standIn ?? this.default.http
    )
  }

  /** Reports if the default namespace can be served; of a process of several, if it can own namespaces. */
  readiness(): Readiness {
    if (!this.#fleet) return this.default.readiness()
    const { registry, leaving } = this.#fleet
    const answers = registry.awaySince === undefined && registry.holds()
    const reason = leaving() ? 'The process is stopping.' : answers ? undefined : 'The database does not answer.'
    return reason === undefined ? { ready: true } : { ready: false, reason }
  }

  /** Reason why tenants cannot be found yet; undefined if they can. */
  notReady(): string | undefined {
    return this.#default?.http.notReady()
  }

  /** True if every client is the default namespace's or unknown. */
  get alone(): boolean {
    return this.#default !== undefined && this.#entries.size === 0 && !this.#expiry.hasDeleted
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
    const entry = this.#entries.ofClient(clientId)
    if (entry) return this.#use(entry)
    const refusal = this.#expiry.refusalOf(clientId)
    return refusal && Promise.reject(refusal)
  }

  /** @returns true if {@link ofClient} does not return undefined */
  leadsElsewhere(clientId: string): boolean {
    return this.#entries.ofClient(clientId) !== undefined || this.#expiry.refusalOf(clientId) !== undefined
  }

  /** The tenant, of any namespace, that an address names in any case, as it is to be written. */
  async tenantInAddress(written: string): Promise<string | undefined> {
    const ids = [this.#default ?? [], this.#entries.all()].flat().flatMap(({ clients }) => Object.keys(clients))
    const find = (among: string[]) =>
      among.find((id) => id === written) ?? among.flatMap((id) => tenantInAddress(written, id) ?? [])[0]
    return find(ids) ?? (this.#fleet && find(await this.#fleet.registry.tenants()))
  }

  list(): NamespaceSummary[] {
    return this.known().map(({ summary }) => summary)
  }

  /**
   * Every namespace with its summary, the default one first; `open` is undefined for a stored one that nobody has asked for yet. In a process
   * of several, those that are open in it.
   */
  known(): { summary: NamespaceSummary; open: Namespace | undefined }[] {
    const made = this.#entries.all().filter(({ inTheMaking, deleted }) => !inTheMaking && !deleted)
    const others = made.map((one) => ({ summary: one.summary(), open: one.open }))
    if (!this.#default) return others.filter(({ open }) => open)
    return [{ summary: summaryOf(this.#default), open: this.#default }, ...others]
  }

  summary(name: string): NamespaceSummary | Promise<NamespaceSummary> {
    if (name === DEFAULT_NAMESPACE && this.#default) return summaryOf(this.#default)
    if (!this.#names || this.isHere(name)) return this.#require(name).summary()
    return this.#names.learn(name).then(() => this.#require(name).summary())
  }

  /** Name of the namespace that has this text for its own control token; undefined if none has. */
  ofControlToken(text: string): string | undefined | Promise<string | undefined> {
    const name = text.slice(0, text.lastIndexOf('.'))
    const entry = this.#entries.get(name)
    if (entry?.inTheMaking) return undefined
    // That of one that has expired leads to the reason.
    const named = entry && !entry.deleted ? entry : this.#expiry.expired(name)
    const isIts = (one: NamespaceIdentity) => {
      const own = ownControlToken(this.#surroundings.options, one)
      return own !== undefined && isControlToken(text, own)
    }
    if (named && name !== DEFAULT_NAMESPACE && isIts(named)) return name
    if (!this.#fleet || !new RegExp(NAMESPACE_NAME).test(name) || name === DEFAULT_NAMESPACE) return undefined
    return this.#fleet.registry.locate(name).then((found) => (found && isIts(found) ? name : undefined))
  }

  /** Name of the namespace of a client; undefined for an unknown one. */
  nameOfClient(clientId: string): string | undefined | Promise<string | undefined> {
    const known = this.#entries.nameOf(clientId)
    if (known !== undefined || !this.#fleet) return known
    return this.#fleet.registry.ofClient(clientId).then((found) => found?.name)
  }

  /** Names of those that this process has, and of those that it is about to have. */
  get held(): string[] {
    return this.#entries.all().flatMap(({ name, held }) => (held ? [name] : []))
  }

  /** @returns true if it is open in this process, or is being made in it */
  isHere(name: string): boolean {
    return this.#entries.isHere(name)
  }

  /** The namespace of a client, as far as this process knows: that of one that is open in it, or the default one. */
  nameIfKnown(clientId: string): string | undefined {
    const name = this.#entries.nameOf(clientId)
    return name === undefined || name === DEFAULT_NAMESPACE || this.isHere(name) ? name : undefined
  }

  /**
   * Opens a namespace of several processes that belongs to nobody, as it was just found; does nothing if there is none. Rejects with
   * OwnedElsewhereError if another process was faster, with Problem sandbox_starting if it cannot be opened.
   */
  async take(name: string, found: LocatedNamespace | undefined): Promise<void> {
    this.#entries.adopt(name, found)
    const entry = this.#entries.get(name)
    if (!entry || entry.deleted) return
    try {
      const isFirst = !entry.held
      await this.#use(entry)
      if (isFirst) this.#surroundings.log.info({ namespace: name }, 'this process has the namespace now')
    } catch (error) {
      throw error instanceof Problem && isOwnedElsewhere(error.cause) ? error.cause : error
    }
  }

  /** Number of namespaces made by requests from the network: a command that makes its own is not seen in the namespace it was given. */
  get madeByOthers(): number {
    return this.#madeByOthers
  }

  /** Gives a namespace of several processes back, for another one to take. Whatever it still holds ends. */
  async handOver(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (!this.#fleet || !entry || entry.deletion) return
    if (name === DEFAULT_NAMESPACE) this.#entries.set(this.#defaultEntry(this.#fleet))
    else this.#entries.drop(entry)
    await entry.end()
    this.#surroundings.log.info({ namespace: name }, 'this process has given the namespace back')
  }

  async create(wish: NamespaceWish, byOthers: boolean): Promise<Credentials> {
    const name = wish.name ?? (await this.#names?.free()) ?? this.#entries.freeName()
    await this.#entries.untilFree(name)
    const number = this.#names && (await this.#names.admit(name))
    if (name === DEFAULT_NAMESPACE || this.#entries.has(name)) throw nameExists(name)
    this.#refuseIfMany(number ?? this.#entries.size)
    const life = newLife(name)
    const made = this.#make({ name, life }, wish)
    const entry = NamespaceEntry.making({ name, life }, made, this.#opening(this.#opener({ name, life })))
    this.#entries.set(entry)
    let namespace: Namespace
    try {
      namespace = await entry.made
    } catch (error) {
      this.#entries.delete(name)
      if (!(await this.#names?.isTaken(name, life))) throw error
      if (wish.name !== undefined) throw nameExists(name)
      return this.create(wish, byOthers) // another process has made one of that name meanwhile
    }
    this.#entries.listen(entry)
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
    if (!this.isHere(name)) await this.#names?.learn(name)
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
    this.#default?.beginStop()
    for (const { open } of this.#entries.all()) open?.beginStop()
  }

  /** Ends all, once no request is left. Call {@link beginStop} first. Throws, when all have ended, the error of one that failed to end. */
  async stop(served?: Promise<void>): Promise<void> {
    const others = this.#entries.all().map((entry) => entry.end(served))
    const ends = await Promise.allSettled([this.#default?.stop(served), ...others])
    await Promise.allSettled(this.#entries.all().map(({ deletion }) => deletion))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #make({ name, life }: NamespaceIdentity, wish: NamespaceWish): Promise<Namespace> {
    const registry = this.#registry
    const source = await this.#source(wish.from)
    const copied = wish.from !== undefined && source instanceof Namespace ? source : undefined
    await this.#default?.checkStorage() // otherwise its folder would be made in a directory that replaced the old one
    let namespace: Namespace | undefined
    try {
      const own = { templates: this.#templates, registry, surroundings: this.#surroundings }
      namespace = await makeNamespace({ name, life, wish, source, copied, ...own })
      await registry?.keep(life, keptOf(namespace))
      return namespace
    } catch (error) {
      namespace?.beginStop()
      await namespace?.stop(undefined).catch(() => undefined) // the first error says more
      await registry?.remove(life).catch(() => undefined) // the next start removes it
      throw error
    }
  }

  /** The namespace that a new one is made from, once it can serve: by default the default one. Throws Problem. */
  async #source(name?: string): Promise<Base> {
    if (this.#fleet && name === undefined) return this.base
    const source = await this.#get(name ?? DEFAULT_NAMESPACE, 'from')
    await source.ready.catch(() => undefined) // notReady() reports the reason
    refuseUnlessReady(source.http.notReady())
    return source
  }

  /** Registers the namespaces that an earlier process left. */
  async #find(): Promise<void> {
    const registry = this.#registry
    if (!registry) return
    for (const found of await registry.list()) this.#entries.enter(found)
  }

  /** The entry of the default namespace in a process of several. */
  #defaultEntry({ base, registry }: FleetParts): NamespaceEntry {
    const open = () => openDefault(base, { registry, surroundings: this.#surroundings })
    return NamespaceEntry.found(defaultAsFound(base), this.#opening(open))
  }

  #opening(open: Opening['open']): Opening {
    const inTurn: Opening['open'] = (kept) => this.#openings.run(() => open(kept))
    return { open: inTurn, log: this.#surroundings.log, moves: this.#fleet !== undefined }
  }

  #refuseIfMany(number: number): void {
    if (number < this.#surroundings.options.maxNamespaces) return
    const detail = `There are ${number} namespaces beside the default one; delete some, or start with a larger --max-namespaces.`
    throw new Problem('too_many_namespaces', { detail, param: 'name' })
  }

  /** Opens a namespace as it is stored. */
  #opener(one: NamespaceIdentity): Opening['open'] {
    const where = { host: this.base.fixture, registry: this.#registry, surroundings: this.#surroundings }
    return (kept) => openKept(one, kept, where)
  }

  #get(name: string, param: string): Namespace | Promise<Namespace> {
    if (name === DEFAULT_NAMESPACE && this.#default) return this.#default
    if (!this.#names || this.isHere(name)) return this.#use(this.#require(name, param))
    return this.#open(name, param, this.#names)
  }

  /** Opens a namespace that may be another process's by now. */
  async #open(name: string, param: string, names: FleetNames): Promise<Namespace> {
    const found = await names.learn(name)
    const entry = this.#require(name, param)
    if (found?.owner && found.owner.id !== this.#fleet?.registry.id) throw ownerAway()
    return this.#use(entry)
  }

  #use(entry: NamespaceEntry): Namespace | Promise<Namespace> {
    this.#expiry.used(entry)
    return entry.get()
  }

  #require(name: string, param = 'namespace'): NamespaceEntry {
    const entry = this.#entries.get(name)
    if (entry && !entry.deleted) return entry
    const known = [DEFAULT_NAMESPACE, ...this.#entries.others().map((one) => one.name)]
    const detail = this.#expiry.whyGone(name) ?? `There is no namespace "${shorten(name)}"; ${suggest(name, known)}`
    throw new Problem('namespace_not_found', { detail, param })
  }

  #deletionOf(entry: NamespaceEntry): Deletion {
    return {
      forget: async () => {
        await this.#default?.checkStorage() // otherwise the namespace would come back with the directory
        await this.#registry?.forget(entry.life)
        this.#entries.unlisten(entry)
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
}

/** Dependencies of the namespaces of one process of several. */
interface FleetSetup {
  base: Base
  registry: SharedRegistry
  surroundings: Surroundings
  /** @returns true while the process is ending */
  leaving(): boolean
}

interface FleetParts extends Omit<FleetSetup, 'surroundings'> {
  standIn: PipelineDeps
}

interface NamespacesDeps extends Pick<Making, 'registry' | 'surroundings' | 'templates'> {
  fleet?: FleetParts
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
