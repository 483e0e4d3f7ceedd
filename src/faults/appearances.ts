import type { Exchange } from '../domain/exchange.ts'
import { OF_END_USER } from './operation-groups.ts'

/** End users counted apart, and operations of each; the others are counted together. */
const MAX_COUNTED = 100_000

/** Where among all requests one is. */
export interface Appearance {
  /** The how-manyth end user to appear it is of, from 1; undefined for an operation without one. */
  end_user: number | undefined
  /** The how-manyth request of its operation by its end user, or else by its tenant, from 1. */
  ordinal: number
}

/** Counts who appears and what they ask, in the order of arrival. */
export class Appearances {
  readonly #users = new Map<string, number>()
  readonly #ordinals = new Map<string, number>()
  readonly #noted = new WeakMap<Exchange, Appearance>()

  /** Counts an exchange; once, however often it is told. */
  note(exchange: Exchange): void {
    if (this.#noted.has(exchange)) return
    const { operation, tenant = '', external_id } = exchange
    const user = OF_END_USER.includes(operation) ? `${tenant}/${external_id}` : undefined
    const end_user = user === undefined ? undefined : this.#userOf(user)
    const counted = `${operation} ${end_user ?? tenant}`
    const ordinal = (this.#ordinals.get(counted) ?? 0) + 1
    this.#ordinals.set(counted, ordinal)
    this.#noted.set(exchange, { end_user, ordinal })
  }

  /** Undefined for one that was there before the counting began. */
  of(exchange: Exchange): Appearance | undefined {
    return this.#noted.get(exchange)
  }

  #userOf(user: string): number {
    const known = this.#users.get(user)
    if (known !== undefined) return known
    const number = this.#users.size + 1
    if (number <= MAX_COUNTED) this.#users.set(user, number)
    return number
  }
}
