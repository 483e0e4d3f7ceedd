import type { Exchange } from '../domain/exchange.ts'
import { OF_END_USER } from './parameters.ts'

/** End users counted: whoever appears later is not, since names come from the path and are without end. */
export const MAX_COUNTED = 10_000

/** Where among all requests one is. */
export interface Appearance {
  /** The how-manyth end user to appear it is of, from 1; undefined for an operation without one. */
  end_user: number | undefined
  /** The how-manyth request of its operation by its end user, or else by its tenant, from 1. */
  ordinal: number
}

/** What of an exchange is counted. */
type Counted = Pick<Exchange, 'operation' | 'tenant' | 'external_id'>

/** Counts who appears and what they ask, in the order of arrival. */
export class Appearances {
  readonly #users = new Map<string, number>()
  readonly #ordinals = new Map<string, number>()
  readonly #noted = new WeakMap<Exchange, Appearance>()

  /** Counts an exchange; once, however often it is told. */
  note(exchange: Exchange): void {
    if (this.#noted.has(exchange)) return
    const appearance = this.count(exchange)
    if (appearance) this.#noted.set(exchange, appearance)
  }

  /** Counts whatever comes next. Returns undefined for one of an end user beyond {@link MAX_COUNTED}. */
  count({ operation, tenant = '', external_id }: Counted): Appearance | undefined {
    const ofUser = OF_END_USER.includes(operation)
    const end_user = ofUser ? this.#userOf(`${tenant}/${external_id}`) : undefined
    if (ofUser && end_user === undefined) return undefined
    const counted = `${operation} ${end_user ?? tenant}`
    const ordinal = (this.#ordinals.get(counted) ?? 0) + 1
    this.#ordinals.set(counted, ordinal)
    return { end_user, ordinal }
  }

  /** Undefined for one that came before the counting began, and for one of an end user beyond {@link MAX_COUNTED}. */
  of(exchange: Exchange): Appearance | undefined {
    return this.#noted.get(exchange)
  }

  #userOf(user: string): number | undefined {
    const known = this.#users.get(user)
    if (known !== undefined || this.#users.size === MAX_COUNTED) return known
    this.#users.set(user, this.#users.size + 1)
    return this.#users.size
  }
}

/** Operations whose strikes are counted at once: keys come from the client and are without end. */
const MAX_OPERATIONS = 10_000

/** Counts how many attempts of one operation were struck in a row, by whatever rules: a client that never gets through gives up. */
export class StrikesInARow {
  readonly #strikes = new Map<string, number>()

  /** Call when an attempt was struck. */
  add(exchange: Exchange): void {
    const operation = nameOf(exchange)
    const strikes = this.of(exchange) + 1
    // Deleted first, so that it is the newest: the oldest has to go when there are too many.
    this.#strikes.delete(operation)
    const [oldest] = this.#strikes.keys()
    if (this.#strikes.size === MAX_OPERATIONS && oldest !== undefined) this.#strikes.delete(oldest)
    this.#strikes.set(operation, strikes)
  }

  /** Call when an attempt is answered as it should be. */
  end(exchange: Exchange): void {
    this.#strikes.delete(nameOf(exchange))
  }

  /** How many attempts of the exchange's operation were struck since one was answered. */
  of(exchange: Exchange): number {
    return this.#strikes.get(nameOf(exchange)) ?? 0
  }
}

function nameOf({ tenant, external_id, operation, idempotency_key }: Exchange): string {
  return JSON.stringify([tenant, external_id, operation, idempotency_key])
}
