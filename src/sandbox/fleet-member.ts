import { pino } from 'pino'
import { checkOptions } from '../check-options.ts'
import { SandboxClock } from '../domain/clock.ts'
import { Ids } from '../domain/ids.ts'
import { inUrl } from '../domain/origin.ts'
import { type SharedRegistry, takesOthers } from '../domain/ports/namespace-registry.ts'
import type { Front } from '../fleet/front.ts'
import { ownerAt } from '../fleet/owner.ts'
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
import { Drain } from './drain.ts'
import { endInTime } from './end-in-time.ts'
import { FleetDoor } from './fleet-door.ts'
import { createProbeServer } from './fleet-probes.ts'
import { answerForwarded, leadToOwners, openFleetListener } from './front.ts'
import { openShared, refuseBesideDatabase } from './open-registry.ts'
import { Places } from './places.ts'
import { Sandbox } from './sandbox.ts'

/** Milliseconds between two looks which processes are alive: a small part of a lease. */
const LOOK_MS = 500
/** Milliseconds before a process that could not join the others tries again. */
const AGAIN_MS = 1_000
/** Milliseconds without the others for which a process stays ready: what comes to it waits. */
const HOLD_MS = 10_000
/** Milliseconds for which a process that has given everything away passes on what still comes to it. */
const PARTING_MS = 5_000

/**
 * One of several processes on a database. Each owns some of the namespaces and serves them, and passes on to the others what is for theirs.
 * A process whose lease has run out has none any more, and begins anew.
 */
export class FleetMember {
  /** Listens, and joins the processes of the database. Throws as {@link Sandbox.listen}, and then leaves nothing running. */
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
  readonly #places: Places
  #front: Front | undefined
  #secret = ''
  /** This process as one of the others; undefined while it joins them, and when it has left them. */
  #seat: { registry: SharedRegistry; sandbox: Sandbox; door: FleetDoor } | undefined
  /** Wall-clock time since which it is none of them. */
  #outside: number | undefined = this.#started
  #failure: string | undefined
  /** Set while it gives everything away. */
  #drain: Drain | undefined
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
    this.#places = this.#buildPlaces()
  }

  async #begin({ certificate, settings }: FrontParts): Promise<void> {
    const registry = await this.#join()
    try {
      await refuseBesideOthers(registry)
      this.#secret = await registry.secret()
      await this.#take(registry)
      const ids = new Ids({ clock: this.#clock, random: new SeededRandom(SeededRandom.freshSeed()) })
      const standing = { health: () => this.#health(), obstacle: () => this.#obstacle() }
      const probes = createProbeServer({ ids, settings }, standing)
      const places = this.#places
      const self = ownerAt(this.#address, this.#secret)
      const server = () => this.#seat?.sandbox.server
      this.#front = await leadToOwners(this.#listener, {
        certificate,
        settings,
        ownerOf: places.ownerOf,
        needsBody: places.needsBody,
        application: () => server() ?? probes,
        self,
      })
      await answerForwarded(this.#fleet, this.#secret, server, (request) => {
        const here = places.isHere(request)
        return here instanceof Promise ? here.then((is) => (is ? server() : undefined)) : here ? server() : undefined
      })
      this.#running = this.#run(registry)
    } catch (error) {
      this.#end.abort()
      await this.#seat?.sandbox.stop().catch(() => undefined)
      await registry.close()
      throw error
    }
    this.#log.info(`Server listening at ${this.#listener.url}`)
  }

  #buildPlaces(): Places {
    return new Places({
      seat: () => {
        const seat = this.#seat
        if (!seat || seat.sandbox.stopping) return undefined
        return { registry: seat.registry, namespaces: seat.sandbox.namespaces, idpTokens: seat.sandbox.idpTokens }
      },
      parting: () => this.stopping,
      isClosed: (name) => this.#drain?.isClosed(name) ?? false,
      secret: () => this.#secret,
      clock: this.#clock,
      log: this.#log,
      gone: (owner) => this.#front?.partFrom(owner),
    })
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

  /** Names of the namespaces that are open in this process. */
  get namespaces(): string[] {
    return this.#seat?.sandbox.namespaces.list().map(({ name }) => name) ?? []
  }

  /** @returns true if it is stopping or stopped */
  get stopping(): boolean {
    return this.#stopping !== undefined
  }

  /** Gives its namespaces to the others at once, if there are any, and ends everything that was started. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#end.abort()
    await this.#running
    await Promise.all([...this.#partings])
    this.#front?.end()
    await Promise.all([this.#listener.close(), this.#fleet.close()])
  }

  /** Registers this process. */
  #join(): Promise<SharedRegistry> {
    return openShared(this.#given, { log: this.#log, address: this.#address })
  }

  /** Serves with that registration from now on. */
  async #take(registry: SharedRegistry): Promise<void> {
    const door = new FleetDoor(this.#listener, this.#places.nameOf)
    const sandbox = await Sandbox.join(this.#given, {
      registry,
      listener: door,
      secret: this.#secret,
      leave: () => this.stop(),
      leaving: () => this.stopping,
    })
    this.#seat = { registry, sandbox, door }
    this.#outside = undefined
    this.#failure = undefined
    this.#log.info({ process: registry.id, address: this.#address }, 'this process is one of the others')
  }

  /** One registration after another, until it is stopped. */
  async #run(first: SharedRegistry): Promise<void> {
    let registry: SharedRegistry | undefined = first
    while (registry) {
      await this.#untilLost(registry)
      const last: SharedRegistry = registry
      const sandbox = this.#seat?.sandbox
      if (this.#end.signal.aborted) return this.#part(last)
      this.#seat = undefined
      this.#outside = this.#clock.wallNow()
      this.#log.error('this process is dead for the others: they may have what it had, and it serves it no more')
      this.#inBackground(Promise.resolve(sandbox?.stop()).finally(() => last.close()))
      registry = await this.#joinAgain()
    }
  }

  async #joinAgain(): Promise<SharedRegistry | undefined> {
    while (!this.#end.signal.aborted) {
      let registry: SharedRegistry | undefined
      try {
        registry = await this.#join()
        await this.#take(registry)
        return registry
      } catch (error) {
        this.#failure = error instanceof Error ? error.message : String(error)
        this.#log.warn({ err: error }, 'this process cannot join the others yet')
        await registry?.close()
        await this.#clock.wallSleep(AGAIN_MS, this.#end.signal)
      }
    }
    return undefined
  }

  /** Returns when this process is dead for the others, or is stopped. Notices meanwhile which of the others die. */
  async #untilLost(registry: SharedRegistry): Promise<void> {
    const over = AbortSignal.any([this.#end.signal, registry.dead])
    const ended = aborted(over)
    while (!over.aborted) {
      const looked = registry.processes().then(
        (living) => this.#places.keep(living),
        () => undefined, // while the database is away nobody can die
      )
      await Promise.race([looked, ended])
      await this.#clock.wallSleep(LOOK_MS, over)
    }
  }

  /** Gives all away, and passes on what still comes until the clients have their answers. */
  async #part(registry: SharedRegistry): Promise<void> {
    try {
      const sandbox = this.#seat?.sandbox
      await this.#giveAway(registry)
      if (sandbox) await endInTime(registry, sandbox.stop())
      this.#seat = undefined
      await registry.leave()
      // The others notice that it is gone, and pass nothing more on to it: what came as it closes its port would be cut off.
      if (this.#drain) await this.#clock.wallSleep(2 * LOOK_MS)
      const until = this.#clock.monotonicNow() + PARTING_MS
      while (this.#clock.monotonicNow() < until && this.#front && this.#front.open > 0) await this.#clock.wallSleep(50)
    } finally {
      await registry.close()
    }
  }

  /** Gives the namespaces to the others, each when it has no open request, as long as a drain may take. */
  async #giveAway(registry: SharedRegistry): Promise<void> {
    const seat = this.#seat
    // A database that does not answer now takes nothing back either.
    const unknown = this.#clock.wallSleep(AGAIN_MS).then(() => [])
    const living = await Promise.race([registry.processes().catch(() => []), unknown])
    if (!seat || living.every(({ id }) => id === registry.id)) return
    const { sandbox, door } = seat
    this.#drain = new Drain({ namespaces: sandbox.namespaces, door })
    const over = AbortSignal.any([registry.dead, door.after(this.options.drain)])
    const drained = this.#drain
      .run(over)
      .catch((error: unknown) => this.#log.warn({ err: error }, 'a namespace did not end in order'))
    await Promise.race([drained, aborted(over)])
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
    if (this.#outside === undefined || this.#clock.wallNow() - this.#outside < HOLD_MS) return undefined
    return this.#failure ?? 'The process is joining the others.'
  }
}

/** Refuses a start beside a process that takes nothing from others, and so has all namespaces. Throws OptionError. */
async function refuseBesideOthers(registry: SharedRegistry): Promise<void> {
  for (const { id, address } of await registry.processes()) {
    if (id === registry.id || takesOthers(address)) continue
    throw new OptionError(
      `the process ${address} has the state of --database, and takes nothing from others: end it, or start it with --fleet-port`,
    )
  }
}

interface MemberDeps {
  given: FleetStart
  options: ResolvedOptions
  listener: Listener
  fleet: Listener
}

type FrontParts = Pick<Parameters<typeof leadToOwners>[1], 'certificate' | 'settings'>
