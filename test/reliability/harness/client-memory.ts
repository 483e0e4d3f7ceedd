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

/** Where a transaction stood when it was looked up. */
export interface SeenBlock {
  number: number
  /** Undefined while a reorg may still replace it. */
  hash: string | undefined
}

/** What clients know: all of it must be true for as long as there is no reset. */
export class ClientMemory {
  users: string[] = []
  acknowledged: Acknowledged[] = []
  /** Nobody knows whether they were carried out. */
  unanswered: Order[] = []
  /** By end user, newest first. */
  transactions = new Map<string, Listed[]>()
  /** By transaction hash. */
  blocks = new Map<string, SeenBlock>()
  pages: SeenPage[] = []
  /** Hashes of transactions that somebody sent past the service, and saw mined. */
  own: string[] = []
  /** Answers that no client should ever get, in words. */
  surprises: string[] = []
  /** Requests that were sent so far. */
  requests = 0

  /** After a reset, nothing of it is true. */
  forget(): void {
    Object.assign(this, new ClientMemory())
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

  /** How every transaction went that anybody was told of, by hash: 0x1 or 0x0. */
  outcomes(): Map<string, '0x0' | '0x1'> {
    const told = new Map<string, '0x0' | '0x1'>(this.own.map((hash) => [hash, '0x1']))
    for (const { body } of this.acknowledged) {
      if (body.tx_hash) told.set(body.tx_hash, '0x1')
      if (body.code === 'transaction_reverted') told.set(/0x[0-9a-f]{64}/.exec(body.detail)![0], '0x0')
    }
    return told
  }
}
