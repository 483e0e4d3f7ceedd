import type { Exchange } from '../domain/exchange.ts'
import { OF_END_USER } from './parameters.ts'

/** End users that are counted. Names come from the path and are without end, so later end users are not counted. */
export const MAX_COUNTED = 10_000

/** Numbers of a request by the order of arrival; a rule's `match` names a request by them. */
export interface RequestNumbers {
  /** Number of its end user by first appearance, from 1; undefined for an operation without end user. */
  end_user: number | undefined
  /** Number among the requests of its operation by its end user, or else by its tenant, from 1. */
  ordinal: number
}

/** Fields of an exchange that are counted. */
type Counted = Pick<Exchange, 'operation' | 'tenant' | 'external_id'>

/** Numbers end users and their requests in the order of arrival. */
export class RequestCounter {
  readonly #users = new Map<string, number>()
  readonly #ordinals = new Map<string, number>()
  readonly #noted = new WeakMap<Exchange, RequestNumbers>()

  /** Counts an exchange once, however often it is called. */
  note(exchange: Exchange): void {
    if (this.#noted.has(exchange)) return
    const numbers = this.count(exchange)
    if (numbers) this.#noted.set(exchange, numbers)
  }

  /** Counts one more request. Returns undefined for an end user beyond {@link MAX_COUNTED}. */
  count({ operation, tenant = '', external_id }: Counted): RequestNumbers | undefined {
    const ofUser = OF_END_USER.includes(operation)
    const end_user = ofUser ? this.#userOf(`${tenant}/${external_id}`) : undefined
    if (ofUser && end_user === undefined) return undefined
    const counted = `${operation} ${end_user ?? tenant}`
    const ordinal = (this.#ordinals.get(counted) ?? 0) + 1
    this.#ordinals.set(counted, ordinal)
    return { end_user, ordinal }
  }

  /** Returns undefined for an exchange that came before the counting began, and for an end user beyond {@link MAX_COUNTED}. */
  of(exchange: Exchange): RequestNumbers | undefined {
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

/** Counts the attempts of one operation that were struck in a row, by any rules: a client that never gets through gives up. */
export class StrikesInARow {
  readonly #strikes = new Map<string, number>()

  /** Call when an attempt was struck. */
  add(exchange: Exchange): void {
    const operation = nameOf(exchange)
    const strikes = this.of(exchange) + 1
    // Deleted first, so that it becomes the newest entry: the oldest entry goes when there are too many.
    this.#strikes.delete(operation)
    const [oldest] = this.#strikes.keys()
    if (this.#strikes.size === MAX_OPERATIONS && oldest !== undefined) this.#strikes.delete(oldest)
    this.#strikes.set(operation, strikes)
  }

  /** Call when an attempt is answered without a fault. */
  end(exchange: Exchange): void {
    this.#strikes.delete(nameOf(exchange))
  }

  /** Counts the attempts of the exchange's operation that were struck since one was answered. */
  of(exchange: Exchange): number {
    return this.#strikes.get(nameOf(exchange)) ?? 0
  }
}

function nameOf({ tenant, external_id, operation, idempotency_key }: Exchange): string {
  return JSON.stringify([tenant, external_id, operation, idempotency_key])
}
