import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { AnvilChains } from '../chain/anvil-chains.ts'
import type { Credentials, Readiness } from '../control/contract.ts'
import type { AuditReport } from '../domain/audit-report.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import type { Tenant } from '../domain/records.ts'
import { retryChainOutage } from '../domain/through-outages.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { seed } from '../fixtures/seed.ts'
import { createApp } from '../http/app.ts'
import { inProcessFetch } from '../http/in-process-fetch.ts'
import { type Listener, listen } from '../http/listen.ts'
import { DEFAULT_FIXTURES, type ResolvedOptions, resolveFork, resolveOptions, type SandboxOptions } from '../options.ts'
import { readFixture } from '../read-fixture.ts'
import { SeededRandom } from '../support/random.ts'
import { chooseCertificate } from '../tls/choose-certificate.ts'
import type { ServerCertificate } from '../tls/server-certificate.ts'
import { buildServices, type PartsContext, type Services } from './build-services.ts'
import { credentialsOf } from './credentials.ts'
import { Persistence } from './persistence.ts'
import { seedService } from './seed-service.ts'
import { startChains, stopChains } from './start-chains.ts'
import { supportRoutes } from './support-routes.ts'

/** One sandbox: built in order by {@link Sandbox.listen}, stopped in reverse. */
export class Sandbox {
  readonly options: ResolvedOptions
  /** Every random choice derives from it. */
  readonly seed: number
  readonly parts: Services
  readonly #persistence: Persistence | undefined
  readonly #fixture: Fixture
  readonly #chains: Promise<AnvilChains>
  readonly #certificate: ServerCertificate | undefined
  readonly #app: FastifyInstance
  #state: Readiness = { ready: false, reason: 'The chain and the fixtures are being prepared.' }
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #resetting: Promise<void> | undefined
  #nextReset: Promise<void> | undefined
  /** Counts resets: a request let in before one must not act on what comes after it. */
  #era = 0
  #listener: Listener | undefined

  private constructor({ fixture, options, seed, persistence, parts, chains, certificate, app }: SandboxDeps) {
    this.#fixture = fixture
    this.options = options
    this.seed = seed
    this.#persistence = persistence
    this.parts = parts
    this.#chains = chains
    this.#certificate = certificate
    this.#app = app
  }

  /**
   * Reads the fixtures and listens; {@link Sandbox.ready} resolves when it can serve.
   * Throws OptionError, FixtureError, or the operating system's error about the port.
   */
  static async listen(given: SandboxOptions = {}): Promise<Sandbox> {
    const log = given.logger ?? pino({ level: 'silent' })
    const fixture = await readFixture(given.fixtures ?? DEFAULT_FIXTURES, resolveFork(given))
    const options = resolveOptions(given, fixture.options)
    let sandbox: Sandbox | undefined
    const self = (): Sandbox => {
      if (!sandbox) throw new Error('the sandbox is being built')
      return sandbox
    }
    const { dataDir } = options
    const persistence = dataDir === undefined ? undefined : await Persistence.open(dataDir, fixture, options.seed, log)
    const seed = persistence?.seed ?? options.seed ?? SeededRandom.freshSeed()
    let chains: Promise<AnvilChains> | undefined
    let certificate: ServerCertificate | undefined
    try {
      const clock = new SandboxClock(options.clock, persistence?.clock)
      // Anvil comes up on its own while the ledger is read and the interface is built: that hides most of its time.
      chains = startChains({ fixture, seed, persistence, clock, log })
      const parts = await buildServices({
        fixture,
        options,
        seed,
        persistence,
        clock,
        log,
        origin: () => self().origin,
      })
      certificate = await chooseCertificate(options, persistence?.path, parts.service.clock.wallNow())
      const app = await createApp({
        ...parts,
        log,
        tls: certificate,
        controlToken: options.controlToken,
        origin: () => self().origin,
        verifyIdpToken: (authorization) => parts.idpTokens.verify(authorization),
        notReady: () => self().notReady(),
        era: () => self().#era,
        answered: (exchange, status) => parts.scenarios.answered(exchange, status),
        neighbours: (app) => supportRoutes(app, parts, options, self),
      })
      sandbox = new Sandbox({ fixture, options, seed, persistence, parts, chains, certificate, app })
      sandbox.#listener = await listen(app, options)
      return sandbox
    } catch (error) {
      await stopChains(chains)
      await certificate?.discard()
      await persistence?.close()
      throw error
    }
  }

  /** Where clients find it. Throws before it listens. */
  get origin(): Origin {
    if (!this.#listener) throw new Error('the sandbox does not listen')
    return this.#listener.origin
  }

  /** Where everything is; the service behind its base path. */
  get baseUrl(): string {
    return this.origin.url
  }

  /** Resolves when chain and fixtures are ready; rejects with why they never will be. */
  get ready(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Whether everything can be served, chains included, and why not. */
  readiness(): Readiness {
    const chains = this.parts.chains.started?.status()
    const reason = this.notReady() ?? (chains?.ok === false ? chains.reason : undefined)
    return reason === undefined ? { ready: true } : { ready: false, reason }
  }

  /** Why nothing at all can be served now; undefined when it can. What a chain's failure spares goes on. */
  notReady(): string | undefined {
    return this.#state.ready ? undefined : this.#state.reason
  }

  /** Whether API, ledger and chain agree. Throws Problem sandbox_starting when not ready, or reset meanwhile. */
  async audit(): Promise<AuditReport> {
    const { reason } = this.readiness()
    if (reason !== undefined) throw notServing(reason)
    const era = this.#era
    const report = await this.parts.audit.run().catch((error: unknown) => {
      if (era === this.#era) throw error
    })
    if (report && era === this.#era) return report
    throw notServing('The sandbox was reset during the audit.')
  }

  /** Resolves when every move of the clock so far will outlive this process, if it has a data directory. */
  async clockKept(): Promise<void> {
    await this.#persistence?.clockKept()
  }

  /** What clients have to trust; undefined without a self-signed certificate. */
  get caFile(): string | undefined {
    return this.#certificate?.caFile
  }

  /** Answers requests for its URLs without the network. */
  get fetch(): typeof fetch {
    return inProcessFetch(this.#app, new URL(this.baseUrl).host)
  }

  /** Every registered tenant. */
  async tenants(): Promise<Tenant[]> {
    const { store } = this.parts.service
    return (await store.page('tenants', { scope: 'all', limit: Number.MAX_SAFE_INTEGER })).items
  }

  /** Addresses, secrets and keys of every tenant: what a client needs to connect. */
  async credentials(): Promise<Credentials> {
    return credentialsOf(this.parts.service, await this.tenants(), this)
  }

  /**
   * Back to the fixtures: state, chain, faults and scenario, clock. Running transfers are answered 503. Asked for while
   * one runs, another follows, one for all who ask: what was done since the first began is to be undone as well.
   */
  reset(): Promise<void> {
    if (!this.#resetting) return this.#beginReset()
    this.#nextReset ??= this.#resetting
      .catch(() => undefined)
      .then(() => {
        this.#nextReset = undefined
        return this.reset()
      })
    return this.#nextReset
  }

  #beginReset(): Promise<void> {
    this.#resetting = this.#retryChainOutage(() => this.#reset())
      .catch((error: Error) => {
        this.#state = { ready: false, reason: `The last reset failed: ${error.message}` }
        throw error
      })
      .finally(() => {
        this.#resetting = undefined
      })
    return this.#resetting
  }

  async #reset(): Promise<void> {
    const { service, chains, faults, scenarios, random, ids, idpTokens, userTokens } = this.parts
    this.#state = { ready: false, reason: 'The sandbox is being reset.' }
    this.#era++
    service.transfers.cancelAll()
    scenarios.forget()
    faults.reset()
    await this.#persistence?.beginSeeding()
    service.clock.reset()
    await faults.mended()
    await chains.started?.reset()
    await service.transfers.idle()
    await service.store.clear()
    await service.showings.clear()
    random.reset()
    ids.reset()
    idpTokens.clear()
    userTokens.clear()
    await this.#seed()
  }

  /** Whether it ends, or has ended. */
  get stopping(): boolean {
    return this.#stopping !== undefined
  }

  /** Ends everything that was started. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #start(): Promise<void> {
    try {
      const chains = await this.#chains
      this.parts.chains.resolve(chains)
      if (this.#stopping) return
      await this.#persistence?.begin()
      await this.#retryChainOutage(() =>
        this.#persistence?.seeded ? this.#goOn(chains, this.#persistence) : this.#begin(chains),
      )
    } catch (error) {
      this.#state = { ready: false, reason: error instanceof Error ? error.message : String(error) }
      throw error
    }
  }

  #retryChainOutage(task: () => Promise<void>): Promise<void> {
    return retryChainOutage(task, { clock: this.parts.service.clock, ended: () => this.#stopping !== undefined })
  }

  /** Of a seeding that was cut short, nothing is left. */
  async #begin(chains: AnvilChains): Promise<void> {
    const { store, showings } = this.parts.service
    if ((await store.count('tenants', 'all')) > 0) {
      await chains.reset()
      await store.clear()
      await showings.clear()
    }
    await this.#seed()
  }

  /** From where an earlier run was, however it ended: what it signed is settled, what its faults broke is mended. */
  async #goOn(chains: AnvilChains, persistence: Persistence): Promise<void> {
    await this.parts.service.transfers.recover()
    if (persistence.mayBeBroken) await chains.mend()
    await chains.catchUp()
    await persistence.whole()
    this.#state = { ready: true }
  }

  async #seed(): Promise<void> {
    await seed(this.#fixture.tenants, this.parts.service.store, seedService(this.parts.service))
    await this.#persistence?.whole()
    this.#state = { ready: true }
  }

  async #stop(): Promise<void> {
    this.#state = { ready: false, reason: 'The sandbox is stopping.' }
    const { service, faults } = this.parts
    service.transfers.cancelAll()
    const closed = this.#listener?.close()
    faults.reset()
    await faults.mended()
    await Promise.all([closed, stopChains(this.#chains)])
    await service.store.close()
    await service.showings.keep()
    await this.#certificate?.discard()
    await this.#persistence?.close()
  }
}

function notServing(detail: string): Problem {
  return new Problem('sandbox_starting', { detail })
}

interface SandboxDeps extends Omit<PartsContext, 'clock' | 'log' | 'origin'> {
  parts: Services
  /** Still starting. */
  chains: Promise<AnvilChains>
  certificate: ServerCertificate | undefined
  app: FastifyInstance
}
