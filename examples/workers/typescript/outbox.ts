import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A payment that is wanted. Its key is on the disk before anything is sent, and never changes. */
export interface Order {
  id: number
  external_id: string
  pool_id: string
  type: 'deposit' | 'withdraw'
  /** Digits, in the token's minor units. */
  amount_minor: string
  idempotency_key: string
}

/** `tx_hash` of an order that was carried out. */
export interface DoneOrder extends Order {
  tx_hash: string
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS portfolios (
    external_id TEXT, pool_id TEXT, idempotency_key TEXT NOT NULL, portfolio_id TEXT, PRIMARY KEY (external_id, pool_id));
  CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY, external_id TEXT NOT NULL, pool_id TEXT NOT NULL, type TEXT NOT NULL, amount_minor TEXT NOT NULL,
    idempotency_key TEXT NOT NULL UNIQUE, state TEXT NOT NULL DEFAULT 'open', outcome TEXT)`

/**
 * The worker's memory, which outlives it. Every statement is a transaction of its own, none is open while a request is under way, and no row
 * is ever claimed: two workers that take the same order send the same key, and the service carries it out once.
 */
export class Outbox {
  readonly #db: DatabaseSync

  /** One database for each partner application: WORKER_DIR, or the folder for temporary files, has it by its client id. */
  constructor(file = join(process.env.WORKER_DIR ?? tmpdir(), `worker-${process.env.YIELD_CLIENT_ID}.db`)) {
    this.#db = new DatabaseSync(file)
    this.#db.exec('PRAGMA busy_timeout = 10000')
    this.#db.exec(TABLES)
  }

  /** Takes an order down with a key; one that is there keeps the key it has. Your application does this where it decides on the payment. */
  take({ id, external_id, pool_id, type, amount_minor }: Omit<Order, 'idempotency_key'>): void {
    const order =
      'INSERT OR IGNORE INTO orders (id, external_id, pool_id, type, amount_minor, idempotency_key) VALUES (?, ?, ?, ?, ?, ?)'
    this.#db.prepare(order).run(id, external_id, pool_id, type, amount_minor, randomUUID())
    const portfolio = 'INSERT OR IGNORE INTO portfolios (external_id, pool_id, idempotency_key) VALUES (?, ?, ?)'
    this.#db.prepare(portfolio).run(external_id, pool_id, randomUUID())
  }

  /** Orders without an outcome, the oldest first. */
  open(): Order[] {
    return this.#all<Order>("SELECT * FROM orders WHERE state = 'open' ORDER BY id")
  }

  done(): DoneOrder[] {
    return this.#all<DoneOrder>("SELECT *, outcome AS tx_hash FROM orders WHERE state = 'done' ORDER BY id")
  }

  /** `outcome`: the hash, or the code of the refusal. An outcome is never replaced. */
  settle(id: number, state: 'done' | 'failed', outcome: string): void {
    this.#db.prepare("UPDATE orders SET state = ?, outcome = ? WHERE id = ? AND state = 'open'").run(state, outcome, id)
  }

  /** `portfolio_id` is null until it is known. */
  portfolio(user: string, pool: string): { idempotency_key: string; portfolio_id: string | null } {
    const found = this.#all<{ idempotency_key: string; portfolio_id: string | null }>(
      'SELECT idempotency_key, portfolio_id FROM portfolios WHERE external_id = ? AND pool_id = ?',
      user,
      pool,
    )[0]
    if (found === undefined) throw new Error(`no order of ${user} for ${pool} was taken`)
    return found
  }

  opened(user: string, pool: string, portfolioId: string): void {
    const update = 'UPDATE portfolios SET portfolio_id = ? WHERE external_id = ? AND pool_id = ?'
    this.#db.prepare(update).run(portfolioId, user, pool)
  }

  /** Rows for `--books`. */
  books(): unknown[] {
    return this.#all('SELECT external_id, pool_id, type, amount_minor, state, idempotency_key FROM orders ORDER BY id')
  }

  #all<T>(query: string, ...values: string[]): T[] {
    return this.#db.prepare(query).all(...values) as T[]
  }
}
