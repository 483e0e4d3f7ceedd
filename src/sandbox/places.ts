import type { IncomingMessage } from 'node:http'
import type { IdpTokenVerifier } from '../auth/idp-token-verifier.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { LivingProcess, LocatedNamespace, SharedRegistry } from '../domain/ports/namespace-registry.ts'
import { type Owner, type OwnerPlace, ownerAt } from '../fleet/owner.ts'
import { peekBody } from '../fleet/peek-body.ts'
import { claimedClient } from '../http/pipeline.ts'
import { probeIn } from '../http/routing.ts'
import { clientOfForm } from '../http/token-endpoint-faults.ts'
import type { Logger } from '../support/logger.ts'
import { BoundedMap } from '../support/maps.ts'
import { abortController } from '../support/waiting.ts'
import { type Destination, destinationOf } from './destination.ts'
import { isOwnedElsewhere } from './namespace-entry.ts'
import type { Namespaces } from './namespaces.ts'

/** Milliseconds for which a request waits for an owner: longer than a lease, and opening a namespace. */
const HOLD_MS = 10_000
/** Milliseconds between two looks for an owner. */
const LOOK_MS = 150
/** Milliseconds after which an owner that could not be reached, and has renewed its lease since, is tried again. */
const TRUST_MS = 2_500
/** Bytes of a form: the token endpoint refuses longer ones. */
const FORM_BYTES = 16 * 1024
/** Clients whose namespaces are remembered. */
const REMEMBERED = 10_000

/** The process, as far as it can own namespaces. */
export interface Seat {
  registry: SharedRegistry
  namespaces: Namespaces
  idpTokens: IdpTokenVerifier
}

/** Dependencies of {@link Places}. */
export interface PlacesDeps {
  /** Undefined while this process joins the others. */
  seat(): Seat | undefined
  /** @returns true while this process gives everything away: it takes nothing more */
  parting(): boolean
  /** @returns true while requests of the namespace wait, so that it can be given away */
  isClosed(name: string): boolean
  /** The fleet's secret. */
  secret(): string
  /** For real time only. */
  clock: SandboxClock
  log: Logger
  /** Called with an owner that has died: what was passed on to it may have no end of its own. */
  gone(owner: Owner): void
}

/** One search for the place of a request. */
interface Search {
  request: IncomingMessage
  destination: Destination
  /** The owner that could not be reached, or was none. */
  failed: Owner | undefined
  began: number
  /** False for a request that another process has passed on: its answer is here or nowhere. */
  mayPass: boolean
}

/**
 * Where requests belong, in one of several processes: here, or to the process that owns their namespace. A namespace that is nobody's is
 * taken by the first process that is asked for it.
 */
export class Places {
  readonly #deps: PlacesDeps
  /** Namespaces that other processes have, as far as is known. */
  readonly #elsewhere = new Map<string, { owner: Owner; process: string }>()
  /** Names of namespaces by their clients. */
  readonly #names = new BoundedMap<string, string>(REMEMBERED)
  /** The last seat: what it knew of clients holds while this process gives everything away. */
  #last: Seat | undefined
  /** Names of the namespaces that requests were led to in this process. */
  readonly #led = new WeakMap<IncomingMessage, string>()
  /** Clients of requests whose forms have been read. */
  readonly #inForms = new WeakMap<IncomingMessage, Promise<string>>()

  constructor(deps: PlacesDeps) {
    this.#deps = deps
  }

  /** See OwnerOf. Null if there is none for as long as a request waits. Returns at once what needs no look. */
  ownerOf = (request: IncomingMessage, failed?: Owner): OwnerPlace | Promise<OwnerPlace> => {
    if (probeIn(request.url)) return 'here'
    const destination = destinationOf(request)
    const seat = this.#deps.seat()
    this.#last = seat ?? this.#last
    const known = seat && !failed ? this.#known(seat, destination, request) : undefined
    return known ?? this.#find(request, destination, failed)
  }

  /** True if this process answers a request that another one has passed on to it. */
  isHere = (request: IncomingMessage): boolean | Promise<boolean> => {
    const destination = destinationOf(request)
    const seat = this.#deps.seat()
    if (!seat) return false
    if (this.#known(seat, destination, request) === 'here') return true
    const search = { request, destination, failed: undefined, began: this.#now(), mayPass: false }
    const late = abortController()
    return Promise.race([
      this.#look(search).then(
        (place) => place === 'here',
        () => false,
      ),
      this.#deps.clock.wallSleep(HOLD_MS, late.signal).then(() => false),
    ]).finally(() => late.abort())
  }

  /** The namespace that a request was led to in this process. */
  nameOf = (request: IncomingMessage): string | undefined => this.#led.get(request)

  /** @returns true if the place of a request is known only when its body is */
  needsBody = (request: IncomingMessage): boolean => destinationOf(request) === 'form'

  /** Forgets what processes had that are not among the living. */
  keep(living: readonly LivingProcess[]): void {
    const ids = new Set(living.map(({ id }) => id))
    const gone = new Set<Owner>()
    for (const [name, { owner, process }] of this.#elsewhere) {
      if (ids.has(process)) continue
      this.#elsewhere.delete(name)
      if (![...gone].some((one) => isSame(one, owner))) gone.add(owner)
    }
    for (const owner of gone) {
      if (living.some((one) => isSame(this.#at(one), owner))) continue // it was started again at its old address
      this.#deps.log.warn({ process: `${owner.host}:${owner.port}` }, 'another process is gone')
      this.#deps.gone(owner)
    }
  }

  /** The place of a request, if that is certain without a look. */
  #known(seat: Seat, destination: Destination, request: IncomingMessage): OwnerPlace | undefined {
    if (destination === 'here') return 'here'
    const name =
      typeof destination === 'object'
        ? destination.namespace
        : destination === 'token'
          ? this.#named(seat, request)
          : undefined
    if (name === undefined) return undefined
    return this.#has(seat, name, request) ? 'here' : this.#elsewhere.get(name)?.owner
  }

  /** @returns true if this process answers a request for the namespace */
  #has({ namespaces }: Seat, name: string, request: IncomingMessage): boolean {
    if (!namespaces.isHere(name) || this.#deps.isClosed(name)) return false
    this.#led.set(request, name)
    return true
  }

  /** The namespace of a token that was verified before, or that leads to the default one whether it is good or not. */
  #named({ namespaces, idpTokens }: Seat, { headers: { authorization } }: IncomingMessage): string | undefined {
    const known = idpTokens.knownClient(authorization)
    const client = known ?? claimedClient(authorization)
    if (client === undefined) return DEFAULT_NAMESPACE
    const name = namespaces.nameIfKnown(client)
    if (known === undefined) return name === DEFAULT_NAMESPACE ? name : undefined
    return name ?? this.#names.get(client)
  }

  /** Looks until there is a place. Null if there is none in time. */
  async #find(request: IncomingMessage, destination: Destination, failed: Owner | undefined): Promise<OwnerPlace> {
    const { clock } = this.#deps
    const search = { request, destination, failed, began: this.#now(), mayPass: true }
    if (failed) this.#forget(failed)
    const over = abortController()
    const late = clock.wallSleep(HOLD_MS, over.signal).then(() => null)
    const look = async (): Promise<OwnerPlace> => {
      while (!over.signal.aborted) {
        // A database that does not answer may do so in time.
        const place = await this.#look(search).catch(() => undefined)
        if (place !== undefined) return place
        await clock.wallSleep(LOOK_MS, over.signal)
      }
      return null
    }
    try {
      return await Promise.race([look(), late])
    } finally {
      over.abort()
    }
  }

  /** One look. Undefined if there is no place now, and there may be one soon. */
  async #look(search: Search): Promise<OwnerPlace | undefined> {
    const { destination } = search
    const present = this.#deps.seat()
    const seat = present ?? (this.#deps.parting() ? this.#last : undefined)
    if (!seat) return undefined
    this.#last = seat
    if (destination === 'here') return present ? 'here' : this.#another(search, seat)
    if (typeof destination === 'object') return this.#seek(destination.namespace, search, seat)
    const client = await this.#clientOf(search, seat)
    const name = client === undefined ? undefined : await this.#nameOf(client, seat, search.failed !== undefined)
    return this.#seek(name ?? DEFAULT_NAMESPACE, search, seat)
  }

  /** Another process, for a request that comes while this one gives everything away: it takes the namespace, or knows who has it. */
  async #another({ failed, began, mayPass }: Search, { registry }: Seat): Promise<OwnerPlace | undefined> {
    if (!mayPass) return null
    const others = (await registry.processes()).filter(({ id }) => id !== registry.id).map((one) => this.#at(one))
    if (others.length === 0) return null
    // One that was asked a moment too early did not take it.
    const again = this.#now() - began < LOOK_MS ? undefined : others[0]
    return others.find((one) => !failed || !isSame(one, failed)) ?? again
  }

  /** The verified client of a request, whose token may be refused all the same; undefined for none. */
  async #clientOf({ destination, request }: Search, { idpTokens }: Seat): Promise<string | undefined> {
    if (destination === 'form') {
      const read = this.#inForms.get(request) ?? readClient(request)
      this.#inForms.set(request, read)
      return read
    }
    const { authorization } = request.headers
    return idpTokens.knownClient(authorization) ?? (await idpTokens.see(authorization)).client
  }

  /** Name of the namespace of a client; undefined for an unknown one. `anew`: what is remembered has led to the wrong process. */
  async #nameOf(client: string, { namespaces, registry }: Seat, anew: boolean): Promise<string | undefined> {
    const known = namespaces.nameIfKnown(client)
    if (known !== undefined) return known
    const remembered = anew ? undefined : this.#names.get(client)
    if (remembered !== undefined && !namespaces.isHere(remembered)) return remembered
    const name = (await registry.ofClient(client))?.name
    if (name === undefined) this.#names.delete(client)
    else this.#names.set(client, name)
    return name
  }

  /** The place of a namespace, which is taken if it is nobody's. */
  async #seek(name: string, search: Search, seat: Seat): Promise<OwnerPlace | undefined> {
    const { registry } = seat
    const parting = this.#deps.parting()
    if (this.#deps.seat() && this.#has(seat, name, search.request)) return 'here'
    const found = await registry.locate(name)
    if (found?.owner && found.owner.id !== registry.id) return this.#elsewherePlace(name, found.owner, search)
    this.#elsewhere.delete(name)
    if (parting) return found?.owner ? undefined : this.#another(search, seat)
    if (isNone(name, found)) return this.#none(search, seat)
    if (typeof search.destination === 'object' && !search.destination.opens) return 'here'
    return this.#take(name, found, search.request, seat)
  }

  #elsewherePlace(name: string, process: LivingProcess, { failed, began, mayPass }: Search): OwnerPlace | undefined {
    const owner = this.#at(process)
    if (!mayPass) return owner
    // One that was killed has its lease for a moment.
    if (failed && isSame(owner, failed) && this.#now() - began < TRUST_MS) return undefined
    this.#elsewhere.set(name, { owner, process: process.id })
    return owner
  }

  /** The place of a request for a namespace that does not exist: the application explains that, and the default one that of a client. */
  async #none(search: Search, seat: Seat): Promise<OwnerPlace | undefined> {
    if (typeof search.destination === 'object') return 'here'
    const client = await this.#clientOf(search, seat)
    if (client !== undefined) this.#names.delete(client)
    return this.#seek(DEFAULT_NAMESPACE, search, seat)
  }

  async #take(
    name: string,
    found: LocatedNamespace | undefined,
    request: IncomingMessage,
    seat: Seat,
  ): Promise<OwnerPlace | undefined> {
    try {
      await seat.namespaces.take(name, found)
    } catch (error) {
      if (isOwnedElsewhere(error) || seat.registry.dead.aborted) return undefined
      // The application says why.
    }
    if (this.#deps.isClosed(name)) return undefined
    this.#led.set(request, name)
    return 'here'
  }

  #at({ address }: LivingProcess): Owner {
    return ownerAt(address, this.#deps.secret())
  }

  #forget(failed: Owner): void {
    for (const [name, { owner }] of this.#elsewhere) if (isSame(owner, failed)) this.#elsewhere.delete(name)
  }

  #now(): number {
    return this.#deps.clock.monotonicNow()
  }
}

/** @returns true if there is no such namespace: what was begun and never kept, by a process that is dead, is none */
function isNone(name: string, found: LocatedNamespace | undefined): boolean {
  return name !== DEFAULT_NAMESPACE && (!found || (found.kept === null && !found.owner))
}

function isSame(one: Owner, other: Owner): boolean {
  return one.host === other.host && one.port === other.port
}

/** The client that a token request names. */
async function readClient(request: IncomingMessage): Promise<string> {
  const body = await peekBody(request, FORM_BYTES)
  return clientOfForm(body && new URLSearchParams(body.toString()), request.headers.authorization)
}
