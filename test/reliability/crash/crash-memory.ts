import type { Answer } from '../../helpers/partner.ts'

/** A request under its Idempotency-Key. */
export interface Order {
  key: string
  /** Below `end_users/`. */
  user: string
  operation: 'portfolios' | 'deposit' | 'withdraw'
  body: Record<string, string>
}

/** An order and what was answered. */
export interface Acknowledged {
  order: Order
  status: number
  body: Answer['body']
  round: number
}

/** A page of transactions, as its cursor gave it. */
export interface SeenPage {
  user: string
  cursor: string
  ids: string[]
}

/** A listed transaction. */
export type Listed = Record<string, string> & { id: string; tx_hash: string }

/** What clients know: all of it must be true for as long as there is no reset. */
export class CrashMemory {
  users: string[] = []
  acknowledged: Acknowledged[] = []
  /** Nobody knows whether they were carried out. */
  unanswered: Order[] = []
  /** By end user, newest first. */
  transactions = new Map<string, Listed[]>()
  /** Block numbers by transaction hash. */
  blocks = new Map<string, string>()
  pages: SeenPage[] = []

  /** After a reset, nothing of it is true. */
  forget(): void {
    Object.assign(this, new CrashMemory())
  }

  portfolios(user: string): string[] {
    return this.acknowledged
      .filter(({ order, status }) => order.user === user && order.operation === 'portfolios' && status === 201)
      .map(({ body }) => body.portfolio_id)
  }

  /** Hashes of all transfers of an end user that were answered with success. */
  hashes(user: string): string[] {
    return this.acknowledged
      .filter(({ order, body }) => order.user === user && body.tx_hash)
      .map(({ body }) => body.tx_hash)
  }
}
