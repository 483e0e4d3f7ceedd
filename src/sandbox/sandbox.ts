import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { pino } from 'pino'
import type { IdpTokenVerifier } from '../auth/idp-token-verifier.ts'
import { checkOptions } from '../check-options.ts'
import type { Credentials, Guest, GuestWish } from '../control/contract.ts'
import { Sessions } from '../control/sessions.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { Origin } from '../domain/origin.ts'
import type { KeptNamespace, NamespaceRegistry, SharedRegistry } from '../domain/ports/namespace-registry.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { Listener } from '../http/listener.ts'
import type { SandboxLogger, SandboxOptions } from '../options.ts'
import { type ResolvedOptions, resolveOptions } from '../resolve-options.ts'
import { isAlive } from '../support/is-alive.ts'
import { type Logger, loggerWith } from '../support/logger.ts'
import { SeededRandom } from '../support/random.ts'
import { SealedTexts } from '../support/sealed-texts.ts'
import { chooseCertificate, type ServerCertificate } from '../tls/server-certificate.ts'
import type { Application } from './application.ts'
import { agreeOnBase, readBeginState } from './begin-state.ts'
import type { NamespaceCopy } from './build-services.ts'
import { refuseFleetOptions } from './check-fleet-options.ts'
import { credentialsOf } from './credentials.ts'
import { endInTime } from './end-in-time.ts'
import type { FleetNamespaces } from './fleet-namespaces.ts'
import { clientsOf, type Namespace } from './namespace.ts'
import { Namespaces } from './namespaces.ts'
import { keptOf } from './open-namespace.ts'
import { openRegistry } from './open-registry.ts'
import { Persistence } from './persistence.ts'
import { buildSurroundings, guestSurroundings, type Surroundings } from './surroundings.ts'

/** Paths that orchestrators ask, and commands that look for a sandbox. */
const PROBE = /^\/_sandbox\/(?:health|ready)/
/** Milliseconds between two looks whether it is in use. */
const LOOK_MS = 60_000
/** A run of a command is the caller's own, and ends with it; a quota could only spoil what it shows. */
const NO_QUOTA = { requestsPerSecond: 0, ledgerBytes: 0, anvils: 0 }
/** Milliseconds between two looks whether the process of a guest is there. */
const GUEST_LOOK_MS = 1_000

/** One sandbox: an HTTP server, and the namespaces behind it. Built in order by {@link Sandbox.listen}, stopped in reverse. */
export class Sandbox {
  readonly options: ResolvedOptions
  /** Id of this sandbox among all that were ever started. */
  readonly instance = SeededRandom.freshUuid()
  readonly namespaces: Namespaces
  readonly #surroundings: Surroundings
  readonly #certificate: ServerCertificate | undefined
  readonly #listener: SandboxListener
  /** Where its namespaces are kept, to be closed with it; undefined if there is nothing to close. */
  readonly #registry: NamespaceRegistry | undefined
  readonly #sessions: Sessions
  /** Set in a process of several. */
  readonly #member: MemberParts | undefined
  /** The sandbox that this one is a guest of. */
  readonly #host: Sandbox | undefined
  readonly #guests = new Set<Sandbox>()
  #app: Application | undefined
  readonly #ending = new AbortController()
  #stopping: Promise<void> | undefined

  private constructor({ namespaces, surroundings, certificate, listener, registry, host, member }: SandboxDeps) {
    this.#host = host
    this.#member = member
    this.options = surroundings.options
    this.namespaces = namespaces
    this.#surroundings = surroundings
    this.#certificate = certificate
    this.#listener = listener
    this.#registry = registry
    const clock = new SandboxClock() // for real time only
    this.#sessions = new Sessions({ origin: listener.origin, wallNow: () => clock.wallNow(), seals: member?.seals })
  }

  /**
   * Reads the fixtures, listens and begins to answer; {@link Sandbox.ready} resolves when it can serve.
   * `service`: settings that replace those of the fixture file, as such a file writes them.
   * Throws OptionError, FixtureError, SnapshotError, or the operating system's error about the port.
   */
  static async listen(given: SandboxOptions = {}, service: Readonly<Record<string, unknown>> = {}): Promise<Sandbox> {
    checkOptions(given)
    refuseFleetOptions(given)
    const log = given.logger ?? pino({ level: 'silent' })
    const registry = await openRegistry(given, log)
    try {
      return await Sandbox.#begin(given, service, { log, registry })
    } catch (error) {
      await registry?.close()
      throw error
    }
  }

  /**
   * The same for one process of several, which has none of the namespaces yet: each is taken when somebody asks for it. It answers by this
   * listener. The registry stays open when it stops.
   */
  static async join(given: SandboxOptions, { registry, listener, secret, leave, leaving }: JoinDeps): Promise<Sandbox> {
    const log = given.logger ?? pino({ level: 'silent' })
    const { fixture } = await readBeginState(given, registry)
    const resolved = resolveOptions(given, fixture.options)
    const base = await agreeOnBase(registry, fixture, resolved)
    const options = { ...resolved, seed: base.seed }
    const certificate = await chooseCertificate(options, undefined, new SandboxClock().wallNow())
    const surroundings = buildSurroundings(fixture, { options, log, origin: listener.origin, caFile: undefined })
    const namespaces = await Namespaces.ofFleet({ base, registry, surroundings, leaving })
    const { FleetNamespaces } = await import('./fleet-namespaces.ts') // no other start needs it
    const fleet = new FleetNamespaces({ namespaces, registry, surroundings, secret, clock: new SandboxClock() })
    const member = { fleet, leave, seals: new SealedTexts(secret, 'sessions of browsers') }
    const sandbox = new Sandbox({ namespaces, surroundings, certificate, listener, registry: undefined, member })
    try {
      await sandbox.#serve(fixture, log)
      return sandbox
    } catch (error) {
      await sandbox.stop()
      throw error
    }
  }

  static async #begin(
    given: SandboxOptions,
    service: Readonly<Record<string, unknown>>,
    { log, registry }: BeginDeps,
  ): Promise<Sandbox> {
    const { fixture, restored } = await readBeginState(given, registry, service)
    const resolved = resolveOptions(given, fixture.options)
    const options = restored ? { ...resolved, seed: restored.seed, clock: restored.clockStart } : resolved
    const listener = await Listener.open(options)
    try {
      const built = { options, log, listener, registry, begin: restored?.begin }
      const sandbox = await Sandbox.#build(fixture, built)
      try {
        await sandbox.#serve(fixture, log)
      } catch (error) {
        await sandbox.stop()
        throw error
      }
      log.info(`Server listening at ${listener.url}`)
      return sandbox
    } catch (error) {
      await listener.close()
      throw error
    }
  }

  /** Builds everything but the application that answers requests. */
  static async #build(fixture: Fixture, { options, log, listener, registry, begin }: BuildDeps): Promise<Sandbox> {
    const { dataDir, seed, fsync } = options
    const own = loggerWith(log, { namespace: DEFAULT_NAMESPACE })
    const kept = {
      life: undefined,
      fixture,
      seed,
      fsync,
      log: own,
      runs: begin?.random.run,
      fresh: begin !== undefined,
    }
    const stored = registry && { registry, persistence: await Persistence.open(registry, kept) }
    let certificate: ServerCertificate | undefined
    try {
      if (stored && begin) await registry.keep(undefined, defaultOf(fixture, stored.persistence.seed, options))
      const directory = dataDir === undefined ? undefined : stored?.persistence.place
      certificate = await chooseCertificate(options, directory, new SandboxClock().wallNow())
    } catch (error) {
      await stored?.persistence.close()
      throw error
    }
    const { origin } = listener
    const surroundings = buildSurroundings(fixture, { options, log, origin, caFile: certificate?.caFile })
    let begun = () => {}
    const spawned = new Promise<void>((resolve) => {
      begun = resolve
    })
    try {
      const start = { fixture, begin, stored, surroundings, spawned: begun }
      const namespaces = await Namespaces.open(start)
      // The next steps leave no time to start the Anvil; once started, it comes up by itself.
      await Promise.race([spawned, namespaces.default.ready.catch(() => undefined)])
      return new Sandbox({ namespaces, surroundings, certificate, listener, registry })
    } catch (error) {
      await certificate?.discard()
      throw error
    }
  }

  /**
   * Makes a sandbox within this one, for one run of a command: on a port of its own, with the same fixture and clients, and with the same
   * Anvils. It ends with the process of that id, by its own stop, or with this sandbox. Throws Problem.
   */
  async createGuest({ pid, ...wish }: GuestWish): Promise<Guest> {
    const own = { host: '127.0.0.1', port: 0, portMayDiffer: false, publicUrl: undefined, tls: undefined }
    const private_ = {
      local: true,
      controlToken: undefined,
      dataDir: undefined,
      database: false,
      fleet: false,
      idleExit: 0,
      quota: NO_QUOTA,
    }
    const options = { ...this.options, ...own, ...private_ }
    const listener = await Listener.open(options)
    try {
      const { fixture } = this.namespaces.base
      const surroundings = guestSurroundings(this.#surroundings, fixture, { options, origin: listener.origin })
      const namespaces = await this.namespaces.ofGuest(wish, surroundings)
      const own = { certificate: undefined, registry: undefined, host: this }
      const guest = new Sandbox({ namespaces, surroundings, listener, ...own })
      await this.#takeIn(guest, pid)
      return {
        credentials: await guest.credentials(),
        owns_markets: guest.ownsMarkets,
        delays_confirmation: guest.delaysConfirmation,
      }
    } catch (error) {
      await listener.close()
      throw error
    }
  }

  /** Lets a guest answer, and ends it with its process. */
  async #takeIn(guest: Sandbox, pid: number): Promise<void> {
    this.#guests.add(guest)
    try {
      if (this.stopping) throw new Problem('sandbox_starting', { detail: 'The sandbox is stopping.' })
      await guest.#serve(this.namespaces.base.fixture, this.#surroundings.log as SandboxLogger)
    } catch (error) {
      await guest.stop()
      throw error
    }
    const clock = new SandboxClock() // for real time only
    const watch = async () => {
      while (!guest.stopping && isAlive(pid)) await clock.wallSleep(GUEST_LOOK_MS, guest.#ending.signal)
      await guest.stop()
    }
    watch().catch((error: unknown) => this.#surroundings.log.warn({ err: error }, 'a guest did not end in order'))
  }

  /** True if there is a market that faults can change: those of forks belong to others. */
  get ownsMarkets(): boolean {
    return this.namespaces.base.fixture.chains.some(({ fork }) => fork === undefined)
  }

  /** True if transfers are confirmed with a delay. */
  get delaysConfirmation(): boolean {
    return this.namespaces.base.confirmationDelay.max > 0
  }

  async #serve({ settings }: Fixture, log: SandboxLogger): Promise<void> {
    // Loaded here, not before: Anvil comes up meanwhile.
    const { createApplication } = await import('./application.ts')
    const parts = {
      namespaces: this.namespaces,
      fleet: this.#member?.fleet,
      surroundings: this.#surroundings,
      sessions: this.#sessions,
      instance: this.instance,
      createGuest: (wish: GuestWish) => this.createGuest(wish),
      stop: () => (this.#member ? this.#member.leave() : this.stop()),
    }
    const around = this.#host ? this.#host.#app : undefined
    const deps = { settings, certificate: this.#certificate, log }
    this.#app = around?.ofGuest(parts) ?? (await createApplication(parts, deps))
    if (this.options.idleExit > 0) this.#watchUse(this.#app, this.options.idleExit)
    await this.#listener.serve(this.#app)
    if (!this.#member) this.#endWhenLost(log)
  }

  /** Ends the sandbox when the state of its default namespace is another process's. The next start finds that one, or takes it over. */
  #endWhenLost(log: SandboxLogger): void {
    const { lost, place } = this.namespace
    const end = () => {
      log.error({ place }, `${lost?.reason.message}. This process serves it no more.`)
      void this.stop().catch(() => undefined) // whoever stops it as well gets the rejection
    }
    if (lost?.aborted) end()
    else lost?.addEventListener('abort', end, { once: true })
  }

  /** Ends the sandbox when it has had no request, and no connection, for so many milliseconds. Probes are no use of it. */
  #watchUse({ server }: Application, limit: number): void {
    const clock = new SandboxClock() // for real time only
    let used = clock.wallNow()
    server.on('request', ({ url = '' }: IncomingMessage) => {
      if (!PROBE.test(url)) used = clock.wallNow()
    })
    const connections = promisify(server.getConnections.bind(server))
    const watch = async () => {
      while (!this.stopping) {
        await clock.wallSleep(Math.min(limit, LOOK_MS), this.#ending.signal)
        if (this.#guests.size > 0 || (await connections()) > 0) used = clock.wallNow()
        if (clock.wallNow() - used >= limit) await this.stop()
      }
    }
    void watch()
  }

  /** The namespace that every sandbox has. */
  get namespace(): Namespace {
    return this.namespaces.default
  }

  /** Verifies the tokens that lead to namespaces. */
  get idpTokens(): IdpTokenVerifier {
    return this.#surroundings.identity.idpTokens
  }

  /** Address at which clients find it. */
  get origin(): Origin {
    return this.#listener.origin
  }

  /** Server of its application, which answers requests that are given to it. */
  get server(): HttpServer | undefined {
    return this.stopping ? undefined : this.#app?.server
  }

  /** URL of the address that it listens on, on this machine. */
  get listeningUrl(): string {
    return this.#listener.url
  }

  /** URL of the sandbox; the service is behind its base path. */
  get baseUrl(): string {
    return this.origin.url
  }

  /** Listens at one more address, at this host if the machine has it, and returns its URL: requests show by which address they came. */
  openBeside(host: string): Promise<string> {
    return this.#listener.openBeside(host)
  }

  /**
   * Address at which a browser finds the inspector; undefined if it is switched off. Where a control token is needed, it has a code for one
   * session behind `#`, which no browser sends to anybody: a fresh one at each call.
   */
  inspectorAddress(): string | undefined {
    if (!this.options.inspector) return undefined
    const code = this.options.controlToken === undefined ? '' : `#code=${this.#sessions.issueCode()}`
    return `${this.origin.url}/${code}`
  }

  /** Resolves when chain and fixtures are ready; rejects with the reason if they never will be. */
  get ready(): Promise<void> {
    return this.namespace.ready
  }

  /** Path of the certificate that clients have to trust; undefined without a self-signed certificate. */
  get caFile(): string | undefined {
    return this.#certificate?.caFile
  }

  /** Answers requests for its URLs without the network. */
  get fetch(): typeof fetch {
    if (!this.#app) throw new Error('the sandbox is being built')
    return this.#app.fetchFrom()
  }

  /** Credentials for a client to connect: addresses, secrets and keys of every tenant. */
  credentials(): Promise<Credentials> {
    return credentialsOf(this.namespace, this.#surroundings)
  }

  /** @returns true if another process has taken its state over */
  get lost(): boolean {
    return this.namespace.lost?.aborted ?? false
  }

  /** @returns true if it is stopping or stopped */
  get stopping(): boolean {
    return this.#stopping !== undefined
  }

  /** Ends everything that was started. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#ending.abort()
    this.namespaces.beginStop()
    if (!this.#host) this.#surroundings.pool.beginStop()
    try {
      await Promise.allSettled([...this.#guests].map((guest) => guest.stop()))
      await endInTime(this.#registry, this.namespaces.stop(this.#listener.close()))
    } finally {
      if (this.#host) this.#host.#guests.delete(this)
      else await this.#surroundings.pool.stop()
      await this.#certificate?.discard()
      await this.#registry?.close()
    }
  }
}

/** The addresses of a sandbox, as it needs them. */
export type SandboxListener = Pick<Listener, 'url' | 'origin' | 'serve' | 'openBeside' | 'close'>

interface BeginDeps {
  log: SandboxLogger
  registry: NamespaceRegistry | undefined
}

/** Dependencies of {@link Sandbox.join}. */
interface JoinDeps {
  registry: SharedRegistry
  listener: SandboxListener
  /** The fleet's secret. */
  secret: string
  /** Ends the process. */
  leave(): Promise<void>
  /** @returns true while it is ending */
  leaving(): boolean
}

interface MemberParts extends Pick<JoinDeps, 'leave'> {
  fleet: FleetNamespaces
  seals: SealedTexts
}

interface SandboxDeps {
  namespaces: Namespaces
  surroundings: Surroundings
  certificate: ServerCertificate | undefined
  listener: SandboxListener
  registry: NamespaceRegistry | undefined
  /** Set for a guest. */
  host?: Sandbox
  member?: MemberParts
}

interface BuildDeps {
  options: ResolvedOptions
  log: Logger
  listener: SandboxListener
  registry: NamespaceRegistry | undefined
  /** State of a snapshot with which the default namespace begins. */
  begin: NamespaceCopy | undefined
}

/** Data of the default namespace of a directory that begins with a snapshot: the fixture file alone does not say what it is of. */
function defaultOf(fixture: Fixture, seed: number, { clock, confirmationDelay }: ResolvedOptions): KeptNamespace {
  const created_at = new Date(new SandboxClock().wallNow()).toISOString()
  const data = { fixture, seed, created_at, clockStart: clock, confirmationDelay, clients: clientsOf(fixture) }
  return keptOf(data)
}
