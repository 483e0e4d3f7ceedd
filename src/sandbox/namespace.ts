import type { AnvilChains } from '../chain/anvil-chains.ts'
import type { Readiness } from '../control/contract.ts'
import type { AuditReport } from '../domain/audit-report.ts'
import { type ClockPosition, SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { KeptNamespace, NamespaceRegistry } from '../domain/ports/namespace-registry.ts'
import type { Tenant } from '../domain/records.ts'
import { retryChainOutage } from '../domain/retry-chain-outage.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { seed } from '../fixtures/seed.ts'
import type { PipelineDeps } from '../http/pipeline.ts'
import { EventStreams } from '../overview/event-stream.ts'
import { type Hearing, Overview } from '../overview/overview.ts'
import { type Logger, loggerWith } from '../support/logger.ts'
import type { DurationRange } from '../support/quantities.ts'
import { SeededRandom } from '../support/random.ts'
import type { TakenAway } from '../verdict/finding.ts'
import {
  buildServices,
  copyServices,
  type NamespaceCopy,
  ownControlToken,
  rpcKey,
  type Services,
  seedService,
} from './build-services.ts'
import { evidenceOf } from './evidence-of.ts'
import { Lifecycle, Resets } from './lifecycle.ts'
import { Persistence } from './persistence.ts'
import { shareOf, startChains, stopChains } from './start-chains.ts'
import type { Identity, Surroundings } from './surroundings.ts'

/**
 * Everything behind the API: ledger, chains, clock, faults, identity provider, in one state of one seed and fixture. It begins to start
 * its chains when it is opened; {@link Namespace.ready} resolves when it can serve.
 */
export class Namespace {
  /** Throws as {@link Persistence.open} and then leaves nothing running. */
  static async open(options: NamespaceSetup & { registry: NamespaceRegistry | undefined }): Promise<Namespace> {
    const { name, registry, life, fixture, seed, begin, surroundings } = options
    const kept = {
      life,
      fixture,
      seed,
      runs: begin?.random.run,
      fsync: surroundings.options.fsync,
      log: loggerWith(surroundings.log, { namespace: name }),
    }
    return Namespace.over(registry && (await Persistence.open(registry, kept)), options)
  }

  /** Opens a namespace from its stored state. Rejects if that is damaged, and then leaves nothing running or open. */
  static async over(persistence: Persistence | undefined, options: NamespaceSetup): Promise<Namespace> {
    const { name, fixture, clockStart, begin, idleMs, surroundings, spawned } = options
    const { embedded } = surroundings
    const log = loggerWith(surroundings.log, { namespace: name })
    const { blockTime } = surroundings.options
    const seed = persistence?.seed ?? options.seed ?? SeededRandom.freshSeed()
    let chains: Promise<AnvilChains> | undefined
    try {
      const clock = new SandboxClock(clockStart, begin?.clock ?? persistence?.clock)
      // Anvil starts by itself while the ledger is read and the interface is built, which hides most of its time.
      chains = startChains({
        fixture,
        seed,
        persistence,
        clock,
        begin,
        idleMs,
        blockTime,
        embedded,
        pool: shareOf(options, clock),
        log,
        spawned,
      })
      const lifecycle = new Lifecycle()
      const generation = () => lifecycle.generation
      const services = await buildServices({ ...options, seed, persistence, clock, begin, generation, log })
      return new Namespace({ ...options, seed, persistence, lifecycle, services, chains, log })
    } catch (error) {
      await stopChains(chains)
      await persistence?.close()
      throw error
    }
  }

  readonly name: string
  /** The control token that opens this namespace alone; undefined for the default one, and if the sandbox has none. */
  readonly controlToken: string | undefined
  /** ISO 8601 UTC, wall-clock time. */
  readonly created_at: string
  /** Its own clients, by tenant id. */
  readonly clients: KeptNamespace['clients']
  /** Seed of every random choice. */
  readonly seed: number
  readonly services: Services
  /** The parts of it that requests need. */
  readonly http: PipelineDeps
  readonly fixture: Fixture
  /** Milliseconds since the Unix epoch at which its clock starts, frozen; undefined for real time. */
  readonly clockStart: number | undefined
  readonly confirmationDelay: DurationRange
  /** What people look at. */
  readonly overview: Overview
  readonly eventStreams: EventStreams
  /** Aborts when its state is another process's: then it ends as by {@link beginStop}. Undefined if it ends with the process. */
  readonly lost: AbortSignal | undefined
  readonly takenAway: TakenAway = { clearings: 0, resets: 0, faults: 0 }
  #takenOver: string | undefined
  readonly #persistence: Persistence | undefined
  readonly #chains: Promise<AnvilChains>
  readonly #idpTokens: Identity['idpTokens']
  readonly #lifecycle: Lifecycle
  readonly #copied: Pick<NamespaceCopy, 'owesRepairs'> | undefined
  #seeded: NamespaceCopy | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  readonly #resets: Resets

  private constructor(deps: NamespaceDeps) {
    const { services } = deps
    const { identity, options } = deps.surroundings
    this.name = deps.name
    this.controlToken = ownControlToken(options, deps)
    this.created_at = deps.created_at ?? new Date(services.service.clock.wallNow()).toISOString()
    this.clients = clientsOf(deps.fixture)
    this.fixture = deps.fixture
    this.clockStart = deps.clockStart
    this.confirmationDelay = deps.confirmationDelay
    this.seed = deps.seed
    this.services = services
    this.#idpTokens = identity.idpTokens
    this.#persistence = deps.persistence
    this.#lifecycle = deps.lifecycle
    this.#chains = deps.chains
    this.#resets = new Resets({
      persistence: deps.persistence,
      lifecycle: this.#lifecycle,
      clock: services.service.clock,
      perform: () => this.#reset(),
    })
    if (deps.persistence?.wasOthers(options)) this.#takenOver = new Date(services.service.clock.wallNow()).toISOString()
    this.lost = deps.persistence?.storage.lost
    this.lost?.addEventListener('abort', () => this.beginStop(), { once: true })
    this.#copied = deps.begin && { owesRepairs: deps.begin.owesRepairs } // the rest of the copy is large
    const { exchanges, store } = services
    const { clock } = services.service
    const evidence = () => evidenceOf(this, { ended: false, end: null })
    const { log } = deps
    const { news } = deps.surroundings
    const listen = (hear: Hearing) => this.#listen(hear)
    this.overview = new Overview({ exchanges, store, clock, seed: deps.seed, evidence, listen, news, log })
    this.eventStreams = new EventStreams(this.overview, clock)
    this.http = {
      name: deps.name,
      service: services.service,
      ids: services.ids,
      exchanges: services.exchanges,
      faults: services.faults,
      controlTokens: [options.controlToken, this.controlToken].filter((token) => token !== undefined),
      rpcKey: rpcKey(options, deps.life),
      verifyIdpToken: ({ headers, seenToken }) => identity.idpTokens.verify(headers.authorization, seenToken),
      answered: (exchange, status) => services.scenarios.answered(exchange, status),
      generation: () => this.#lifecycle.generation,
      end: this.#lifecycle.end,
      notReady: () => this.#lifecycle.obstacle,
      quota: services.quota,
      storage: options.database ? deps.persistence?.storage : undefined,
    }
  }

  /** Resolves when chain and fixtures are ready; rejects with the reason if they never will be. */
  get ready(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** The place of its stored state, for messages; undefined if it ends with the process. */
  get place(): string | undefined {
    return this.#persistence?.place
  }

  /** Rejects if its stored state is no longer where it was. */
  async checkStorage(): Promise<void> {
    await this.#persistence?.check()
  }

  /** @returns false if it goes on from a state that an earlier process left without closing it */
  get closedInOrder(): boolean {
    return this.#persistence?.closedInOrder ?? true
  }

  /** ISO 8601 moment at which it was taken over from another process, if it has not been reset since. */
  get takenOver(): string | undefined {
    return this.#takenOver
  }

  /** Reports if everything, chains included, can be served, and if not, the reason. */
  readiness(): Readiness {
    const chains = this.services.chains.started?.status()
    const chain = chains?.ok === false ? chains.reason : undefined
    const reason = this.#lifecycle.obstacle ?? this.#persistence?.obstacle ?? chain
    return reason === undefined ? { ready: true } : { ready: false, reason }
  }

  /** Compares API, ledger and chain. Throws Problem sandbox_starting if it is not ready, or is reset meanwhile. */
  async audit(): Promise<AuditReport> {
    const { reason } = this.readiness()
    if (reason !== undefined) throw notServing(reason)
    const { generation } = this.#lifecycle
    const report = await this.services.audit.run().catch((error: unknown) => {
      if (!generation.aborted) throw error
    })
    if (report && !generation.aborted) return report
    throw notServing('The sandbox was reset during the audit.')
  }

  /** Resolves when every move of the clock so far will outlive this process, if it is kept. */
  async clockKept(): Promise<void> {
    await this.#persistence?.clockKept()
  }

  /** Saves the position to which the clock is about to move, if it is kept. Rejects if that fails. */
  async keepClock(state: ClockPosition): Promise<void> {
    await this.#persistence?.keepClock(state)
  }

  /** A copy of its state directly after its first seeding in this process; undefined if it was not seeded in this process. */
  get seeded(): NamespaceCopy | undefined {
    return this.#seeded
  }

  /**
   * A copy of its present state; see {@link AnvilChains.copy} for `condensed`. Transfers wait meanwhile, for a moment. Throws
   * ChainUnavailableError.
   */
  async copy(how?: { condensed: boolean }): Promise<NamespaceCopy> {
    const { started } = this.services.chains
    if (!started) throw notServing('The chains are starting.')
    const { chains, result } = await started.copy(() => copyServices(this.services), how)
    return { ...result, chains }
  }

  /** True while a client waits for an answer, or somebody follows its events. */
  get busy(): boolean {
    return this.services.exchanges.busy() || this.eventStreams.size > 0
  }

  /** Every registered tenant. */
  async tenants(): Promise<Tenant[]> {
    const { store } = this.services.service
    return (await store.page('tenants', { scope: 'all', limit: Number.MAX_SAFE_INTEGER })).items
  }

  /** Lets an overview hear of changes beside the requests. Returns what ends that. */
  #listen({ moved, struck, mined }: Hearing): () => void {
    const { service, faults, chains } = this.services
    const unsubscribe = service.clock.onMove(moved)
    faults.watcher = struck
    const unwatch = chains.started?.watch(mined)
    return () => {
      unsubscribe()
      faults.watcher = null
      unwatch?.()
    }
  }

  /** Resets state, chain, faults and scenario, and clock to the fixtures. Running transfers are answered 503. See {@link Resets}. */
  reset(): Promise<void> {
    return this.#resets.ask()
  }

  async #reset(): Promise<void> {
    const { service, chains, faults, scenarios, random, ids, userTokens, exchanges } = this.services
    this.#lifecycle.beginReset()
    exchanges.beginAnew()
    this.#takenOver = undefined
    service.transfers.beginAnew()
    scenarios.forget()
    faults.reset()
    service.clock.reset()
    await chains.started?.reset()
    await service.transfers.idle()
    await service.store.clear()
    await service.showings.clear()
    random.reset()
    ids.reset()
    this.#idpTokens.clear()
    userTokens.clear()
    await this.#seed()
  }

  /** Refuses new requests and answers running ones; running transfers are cancelled. */
  beginStop(): void {
    const { faults, exchanges } = this.services
    this.#lifecycle.beginStop()
    this.overview.end('stopping')
    exchanges.cutOff()
    faults.clear()
  }

  /**
   * Ends everything, once no request is left. Call {@link beginStop} first. Writes nothing that its storage would not take, and nothing if
   * its state is `discarded`: it has been deleted.
   */
  stop(served: Promise<void> | undefined, { discarded = false } = {}): Promise<void> {
    this.#stopping ??= this.#stop(served, discarded)
    return this.#stopping
  }

  async #stop(served: Promise<void> | undefined, discarded: boolean): Promise<void> {
    const { service, faults } = this.services
    const isCut = this.#persistence?.takesWrites === false
    if (isCut || discarded) {
      faults.repairs.abandon()
      // A storage that does not answer ends the writes that wait for it, and with them what waits for those.
      await Promise.all([isCut && this.#persistence?.abandon(), served, stopChains(this.#chains)])
      if (!isCut) await this.#persistence?.abandon()
    } else {
      const repaired = await faults.repairs.settleAtStop()
      await Promise.all([served, stopChains(this.#chains)])
      try {
        await service.store.close()
        await service.showings.keep()
        await this.#persistence?.close(repaired)
      } catch (error) {
        if (!this.lost?.aborted) throw error
        await this.#persistence?.abandon() // another process took it meanwhile: nothing is left to write
      }
    }
    this.#lifecycle.stopped()
  }

  async #start(): Promise<void> {
    try {
      const chains = await this.#chains
      this.services.chains.resolve(chains)
      if (this.#lifecycle.ending) return
      await this.#persistence?.begin()
      await this.#retryChainOutage(() => {
        if (this.#copied) return this.#goOnFrom(this.#copied)
        return this.#persistence?.seeded ? this.#goOn(chains, this.#persistence) : this.#begin(chains)
      })
    } catch (error) {
      this.#lifecycle.fail(error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  #retryChainOutage(task: () => Promise<void>): Promise<void> {
    return retryChainOutage(task, { clock: this.services.service.clock, ended: () => this.#lifecycle.ending })
  }

  /** Seeds, after removing the remains of an interrupted seeding. */
  async #begin(chains: AnvilChains): Promise<void> {
    const { store, showings } = this.services.service
    if ((await store.count('tenants', 'all')) > 0) {
      await chains.reset()
      await store.clear()
      await showings.clear()
    }
    await this.#seed()
  }

  /** Goes on from an earlier run, however it ended: settles the transfers that it signed, and does the repairs that it may owe. */
  async #goOn(chains: AnvilChains, persistence: Persistence): Promise<void> {
    await this.services.service.transfers.recover()
    if (persistence.mayOweRepairs) await this.services.faults.repairs.settleAtStart()
    await chains.goOn()
    await persistence.whole(this.services.service.clock)
    this.#lifecycle.ready()
  }

  /** Goes on from a copy of another namespace: settles the transfers that it signed, and does the repairs that it owes. */
  async #goOnFrom({ owesRepairs }: Pick<NamespaceCopy, 'owesRepairs'>): Promise<void> {
    await this.services.service.transfers.recover()
    if (owesRepairs) await this.services.faults.repairs.settleAtStart()
    await this.#persistence?.whole(this.services.service.clock)
    this.#lifecycle.ready()
  }

  async #seed(): Promise<void> {
    await seed(this.fixture.tenants, this.services.service.store, seedService(this.services.service))
    await this.#persistence?.whole(this.services.service.clock)
    this.#seeded ??= await this.copy()
    this.#lifecycle.ready()
  }
}

function notServing(detail: string): Problem {
  return new Problem('sandbox_starting', { detail })
}

interface NamespaceDeps extends NamespaceSetup {
  seed: number
  persistence: Persistence | undefined
  lifecycle: Lifecycle
  services: Services
  /** May still be starting. */
  chains: Promise<AnvilChains>
  /** Names the namespace in each line. */
  log: Logger
}

/** Options of opening a namespace. */
export interface NamespaceSetup {
  name: string
  /** Distinguishes it from others of its name; undefined for the default one, whose name no other can have. */
  life: string | undefined
  /** ISO 8601 UTC, wall-clock time; default: now. */
  created_at?: string
  fixture: Fixture
  /** Seed to require; undefined for any. */
  seed: number | undefined
  /** Milliseconds since the Unix epoch at which its clock starts, frozen; undefined for real time. */
  clockStart: number | undefined
  confirmationDelay: DurationRange
  /** State to begin with; undefined: the stored one, or the fixture. */
  begin?: NamespaceCopy | undefined
  /** Milliseconds without use after which its chains rest; undefined: never, and they start at once. */
  idleMs?: number | undefined
  /** Called when one of its Anvils has been started. */
  spawned?: (() => void) | undefined
  surroundings: Surroundings
}

/** The clients of a fixture, in their stored form. A private key that no file holds is kept with them. */
export function clientsOf({ tenants, source }: Fixture): KeptNamespace['clients'] {
  const inFiles = new Set(
    source.content.tenants.flatMap(({ tenant_id, key }) => ('private_key_file' in key ? tenant_id : [])),
  )
  return Object.fromEntries(
    tenants.map(({ tenant: { tenant_id, slug, client_id, client_secret, private_key_pem, kid } }) => {
      const key = private_key_pem !== undefined &&
        kid !== undefined &&
        !inFiles.has(tenant_id) && { private_key_pem, kid }
      return [tenant_id, { slug, client_id, client_secret, ...key }]
    }),
  )
}
