import type { IncomingMessage, Server } from 'node:http'
import { pino } from 'pino'
import { checkOptions } from '../check-options.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Ids } from '../domain/ids.ts'
import { hostIn, inUrl } from '../domain/origin.ts'
import type { LeadingProcess, SharedRegistry } from '../domain/ports/namespace-registry.ts'
import type { Front } from '../fleet/front.ts'
import type { Owner, OwnerPlace } from '../fleet/owner.ts'
import { Listener } from '../http/listener.ts'
import { OptionError } from '../option-error.ts'
import type { SandboxLogger, SandboxOptions } from '../options.ts'
import { type ResolvedOptions, resolveOptions } from '../resolve-options.ts'
import { SeededRandom } from '../support/random.ts'
import { abortController, aborted } from '../support/waiting.ts'
import { chooseCertificate } from '../tls/server-certificate.ts'
import { version } from '../version.ts'
import { readBeginState } from './begin-state.ts'
import { advertisedHost, checkFleetOptions, checkFleetToken, type FleetStart } from './check-fleet-options.ts'
import { FleetDoor } from './fleet-door.ts'
import { createProbeServer, isProbe } from './fleet-probes.ts'
import { answerForwarded, leadToOwners, openFleetListener } from './front.ts'
import { openShared, refuseBesideDatabase } from './open-registry.ts'
import { Sandbox } from './sandbox.ts'

/** Milliseconds between two looks who leads: a small part of a takeover. */
const LOOK_MS = 150
/** Milliseconds before a takeover that failed, or a database that does not answer, is tried again. */
const AGAIN_MS = 1_000
/** Milliseconds for which a request waits for a process that leads: longer than a lease, and opening the state. */
const HOLD_MS = 10_000
/** Milliseconds for which a process that has ended its lead passes on what still comes to it. */
const PARTING_MS = 5_000

/**
 * One of several processes on a database. One of them leads: it has the whole state and serves. The others pass on to it what comes to
 * them, and one of them takes over when it is gone. A process whose state was taken is one of the others from then on.
 */
export class FleetMember {
  /**
   * Listens, and joins the processes of the database; resolves when this one leads and can serve, or knows who does. Throws as
   * {@link Sandbox.listen}, and then leaves nothing running.
   */
  static async start(given: SandboxOptions): Promise<FleetMember> {
    checkOptions(given)
    const start: SandboxOptions = given
    checkFleetOptions(start)
    refuseBesideDatabase(start)
    const { fixture } = await readBeginState(given, undefined)
    const options = resolveOptions(given, fixture.options)
    checkFleetToken(given, options)
    const clock = new SandboxClock() // for real time only
    const certificate = await chooseCertificate(options, undefined, clock.wallNow())
    const fleet = await openFleetListener({ host: given.fleetHost ?? '127.0.0.1', port: given.fleetPort ?? 0 })
    const listeners = [fleet]
    try {
      const listener = await Listener.open(options)
      listeners.push(listener)
      const member = new FleetMember({ given: start, options, listener, fleet })
      await member.#begin({ certificate, settings: fixture.settings })
      return member
    } catch (error) {
      await Promise.all(listeners.map((one) => one.close()))
      throw error
    }
  }

  readonly options: ResolvedOptions
  readonly #given: FleetStart
  readonly #log: SandboxLogger
  readonly #listener: Listener
  readonly #fleet: Listener
  readonly #address: string
  readonly #instance = SeededRandom.freshUuid()
  readonly #clock = new SandboxClock() // for real time only
  readonly #started = this.#clock.wallNow()
  readonly #end = abortController()
  readonly #partings = new Set<Promise<unknown>>()
  #front: Front | undefined
  #secret = ''
  /** The sandbox in this process, while it leads and can serve. */
  #leading: Sandbox | undefined
  /** The other process that leads. */
  #leader: { process: LeadingProcess; owner: Owner } | undefined
  /** Wall-clock time since which nobody leads. */
  #leaderless: number | undefined
  /** The server of the sandbox that is being opened here; undefined if nothing is, or that fails. */
  #opening: Promise<Server | undefined> | undefined
  #failure: string | undefined
  #parting = false
  #change = abortController()
  #look = abortController()
  #running: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined

  private constructor({ given, options, listener, fleet }: MemberDeps) {
    const log = given.logger ?? pino({ level: 'silent' })
    this.#given = {
      ...given,
      logger: log,
      ...(options.controlToken !== undefined && { controlToken: options.controlToken }),
    }
    this.options = options
    this.#log = log
    this.#listener = listener
    this.#fleet = fleet
    this.#address = `http://${inUrl(advertisedHost(given))}:${new URL(fleet.url).port}`
    this.#leaderless = this.#started
  }

  async #begin({ certificate, settings }: FrontParts): Promise<void> {
    const registry = await this.#join()
    try {
      this.#secret = await registry.secret()
      const ids = new Ids({ clock: this.#clock, random: new SeededRandom(SeededRandom.freshSeed()) })
      const probes = createProbeServer(
        { ids, settings },
        { health: () => this.#health(), obstacle: () => this.#obstacle() },
      )
      this.#front = await leadToOwners(this.#listener, {
        certificate,
        settings,
        ownerOf: (request, failed) => this.#ownerOf(request, failed),
        application: () => this.#leading?.server ?? probes,
        self: ownerAt(this.#address, this.#secret),
      })
      const own = () => this.#leading?.server
      await answerForwarded(this.#fleet, this.#secret, own, () => own() ?? this.#opening)
      await this.#firstTurn(registry)
    } catch (error) {
      this.#end.abort()
      await registry.close()
      throw error
    }
    this.#running = this.#run(registry)
    // What a takeover needs is loaded before.
    if (!this.#leading) this.#inBackground(import('./application.ts'))
    this.#log.info(`Server listening at ${this.#listener.url}`)
  }

  /** The first look, whose failure is the start's. */
  async #firstTurn(registry: SharedRegistry): Promise<void> {
    for (;;) {
      const found = await registry.leader()
      if (found && found.id !== registry.id) {
        if (!URL.canParse(found.address) || !found.address.startsWith('http:')) {
          throw new OptionError(
            `the process ${found.address} has the state of --database, and takes nothing from others: end it, or start it with --fleet-port`,
          )
        }
        return this.#follow(found)
      }
      if (await this.#takeOver(registry)) return
    }
  }

  /** URL of the public address that it listens on, on this machine. */
  get listeningUrl(): string {
    return this.#listener.url
  }

  /** URL at which clients find the fleet. */
  get baseUrl(): string {
    return this.#listener.origin.url
  }

  /** Sends requests for the fleet's URLs to this process, by its own address. */
  readonly fetch: typeof fetch = (input, init) => {
    const given = input instanceof Request ? input.url : String(input)
    const own = new URL(given)
    if (own.origin === new URL(this.baseUrl).origin && !this.options.tls) {
      const { protocol, host } = new URL(this.listeningUrl)
      Object.assign(own, { protocol, host })
    }
    return fetch(input instanceof Request ? new Request(own, input) : own, init)
  }

  get role(): 'leader' | 'standby' {
    return this.#leading ? 'leader' : 'standby'
  }

  /** @returns true if it is stopping or stopped */
  get stopping(): boolean {
    return this.#stopping !== undefined
  }

  /** Gives the state to another process at once, if there is one, and ends everything that was started. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#parting = true
    this.#end.abort()
    this.#look.abort()
    await this.#running
    await Promise.all([...this.#partings])
    this.#front?.end()
    await Promise.all([this.#listener.close(), this.#fleet.close()])
  }

  /** Registers this process. */
  #join(): Promise<SharedRegistry> {
    return openShared(this.#given, { log: this.#log, address: this.#address })
  }

  /** One registration after another, until it is stopped. */
  async #run(first: SharedRegistry): Promise<void> {
    let registry: SharedRegistry | undefined = first
    while (registry) {
      await this.#serveOrFollow(registry)
      const last: SharedRegistry = registry
      if (this.#end.signal.aborted) return this.#part(last)
      const stopped = this.#leading?.stop()
      this.#leading = undefined
      this.#noLeader()
      this.#inBackground(Promise.resolve(stopped).finally(() => last.close()))
      registry = await this.#joinAgain()
    }
  }

  async #joinAgain(): Promise<SharedRegistry | undefined> {
    while (!this.#end.signal.aborted) {
      try {
        return await this.#join()
      } catch (error) {
        this.#log.warn({ err: error }, 'this process cannot join the others yet')
        await this.#clock.wallSleep(AGAIN_MS, this.#end.signal)
      }
    }
    return undefined
  }

  /** Returns when this process is dead for the others, its state was taken, or it is stopped. */
  async #serveOrFollow(registry: SharedRegistry): Promise<void> {
    while (!this.#end.signal.aborted && !registry.dead.aborted) {
      if (this.#leading) return this.#untilLost(this.#leading, registry)
      try {
        const found = await registry.leader()
        if (found && found.id !== registry.id) this.#follow(found)
        else {
          this.#noLeader()
          await this.#takeOver(registry)
          continue
        }
        await this.#pause(LOOK_MS)
      } catch (error) {
        this.#failure = error instanceof Error ? error.message : String(error)
        this.#log.warn({ err: error }, 'this process could not find out who leads, or take over')
        await this.#pause(AGAIN_MS)
      }
    }
  }

  /** @returns true if this process leads from now on; otherwise another one has the state */
  async #takeOver(registry: SharedRegistry): Promise<boolean> {
    if (!(await registry.claim())) return false
    const opened = this.#open(registry)
    this.#opening = opened.then(
      (sandbox) => sandbox?.server,
      () => undefined,
    )
    try {
      return (await opened) !== undefined
    } catch (error) {
      // Another process may be able to.
      await registry.leave()
      throw error
    } finally {
      this.#opening = undefined
    }
  }

  /** Serves from the state that this process has; undefined if another one was faster. */
  async #open(registry: SharedRegistry): Promise<Sandbox | undefined> {
    const began = this.#clock.monotonicNow()
    let sandbox: Sandbox | undefined
    try {
      sandbox = await Sandbox.lead(this.#given, registry, new FleetDoor(this.#listener))
      await sandbox.ready
    } catch (error) {
      await sandbox?.stop().catch(() => undefined)
      if (error instanceof Error && error.name === 'OwnedElsewhereError') return undefined
      throw error
    }
    this.#leading = sandbox
    this.#leader = undefined
    this.#leaderless = undefined
    this.#failure = undefined
    const ms = Math.round(this.#clock.monotonicNow() - began)
    this.#log.info({ process: registry.id, address: this.#address, ms }, 'this process leads')
    this.#changed()
    return sandbox
  }

  #untilLost({ namespace: { lost } }: Sandbox, registry: SharedRegistry): Promise<void> {
    const signals = [this.#end.signal, registry.dead, ...(lost ? [lost] : [])]
    return aborted(AbortSignal.any(signals))
  }

  /** Gives all away at once, and passes on what still comes until the clients have their answers. */
  async #part(registry: SharedRegistry): Promise<void> {
    const led = this.#leading
    this.#leading = undefined
    this.#noLeader()
    try {
      await led?.stop()
      await registry.leave()
      await this.#handOn(registry)
    } finally {
      await registry.close()
    }
  }

  async #handOn(registry: SharedRegistry): Promise<void> {
    const until = this.#clock.monotonicNow() + PARTING_MS
    try {
      while (this.#clock.monotonicNow() < until && (await registry.others()) > 0) {
        const found = await registry.leader()
        if (found) {
          this.#follow(found)
          break
        }
        await this.#clock.wallSleep(LOOK_MS)
      }
    } catch {
      // The database is away: nobody can be found.
    }
    this.#parting = false
    this.#changed()
    while (this.#clock.monotonicNow() < until && this.#front && this.#front.open > 0)
      await this.#clock.wallSleep(LOOK_MS)
  }

  #follow(process: LeadingProcess): void {
    if (this.#leader?.process.id === process.id) return
    if (this.#leader) this.#noLeader()
    this.#leader = { process, owner: ownerAt(process.address, this.#secret) }
    this.#leaderless = undefined
    this.#failure = undefined
    this.#log.info({ leader: process.address }, 'another process leads: requests are passed on to it')
    this.#changed()
  }

  #noLeader(): void {
    const gone = this.#leader
    this.#leader = undefined
    this.#leaderless ??= this.#clock.wallNow()
    if (!gone) return
    this.#log.warn({ leader: gone.process.address }, 'the process that led is gone')
    this.#front?.partFrom(gone.owner)
  }

  #ownerOf({ url }: IncomingMessage, failed?: Owner): OwnerPlace | Promise<OwnerPlace> {
    if (this.#leading) return 'here'
    if (isProbe(url)) return 'here'
    const owner = this.#leader?.owner
    if (owner && owner !== failed) return owner
    return this.#wait(failed)
  }

  /** Waits for a process that leads, other than one that has failed; null when that takes too long. */
  async #wait(failed: Owner | undefined): Promise<OwnerPlace> {
    this.#look.abort()
    const patience = abortController()
    const late = this.#clock.wallSleep(HOLD_MS, patience.signal).then(() => patience.abort())
    try {
      while (!patience.signal.aborted) {
        await Promise.race([aborted(this.#change.signal), late])
        if (this.#leading) return 'here'
        const owner = this.#leader?.owner
        if (owner && owner !== failed) return owner
        if (this.#end.signal.aborted && !this.#parting) return null
      }
      return null
    } finally {
      patience.abort()
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    this.#look = abortController()
    await this.#clock.wallSleep(milliseconds, this.#look.signal)
  }

  #changed(): void {
    const change = this.#change
    this.#change = abortController()
    change.abort()
  }

  #inBackground(task: Promise<unknown>): void {
    const done = task
      .catch((error: unknown) => this.#log.warn({ err: error }, 'what it had did not end in order'))
      .finally(() => this.#partings.delete(done))
    this.#partings.add(done)
  }

  #health(): object {
    const uptime_seconds = Math.floor((this.#clock.wallNow() - this.#started) / 1_000)
    return { status: 'ok', version, instance: this.#instance, uptime_seconds }
  }

  #obstacle(): string | undefined {
    if (this.#end.signal.aborted) return 'The process is stopping.'
    if (this.#leaderless === undefined || this.#clock.wallNow() - this.#leaderless < HOLD_MS) return undefined
    return this.#failure ?? 'No process of the fleet leads.'
  }
}

function ownerAt(address: string, secret: string): Owner {
  const url = new URL(address)
  return { host: hostIn(url), port: Number(url.port), secret }
}

interface MemberDeps {
  given: FleetStart
  options: ResolvedOptions
  listener: Listener
  fleet: Listener
}

type FrontParts = Pick<Parameters<typeof leadToOwners>[1], 'certificate' | 'settings'>
