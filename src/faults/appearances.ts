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
