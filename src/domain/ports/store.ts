import type { EndUser, IdempotencyRecord, Pool, Portfolio, Tenant, Transaction, Transfer } from '../records.ts'

/** Every collection of the ledger and the record it holds. */
export interface Collections {
  tenants: Tenant
  pools: Pool
  end_users: EndUser
  portfolios: Portfolio
  transactions: Transaction
  transfers: Transfer
  idempotency_keys: IdempotencyRecord
}

/** Name of a collection. */
export type Collection = keyof Collections

/** Position of a record in an ordered list, compared member by member, as strings by code unit. */
export type SortKey = readonly string[]

/** Keys and order of a collection, as data, so that another store can turn it into its own indexes. */
export interface CollectionShape<T> {
  id(record: T): string
  /** Unique look-ups beside the id, by name. */
  unique?: Record<string, (record: T) => string>
  /** The collection's only ordered list: records of one scope, by sort key. */
  list?: { scope(record: T): string; key(record: T): SortKey; order: 'asc' | 'desc' }
}

/** Shape of every collection. spec: endpoint 7 orders transactions newest first, created_at then id, both descending. */
export const SHAPES: { [C in Collection]: CollectionShape<Collections[C]> } = {
  tenants: {
    id: (tenant) => tenant.tenant_id,
    unique: { client_id: (tenant) => tenant.client_id, slug: (tenant) => tenant.slug },
    list: { scope: () => 'all', key: (tenant) => [tenant.slug], order: 'asc' },
  },
  pools: {
    id: (pool) => `${pool.tenant_id}/${pool.pool_id}`,
    list: { scope: (pool) => pool.tenant_id, key: (pool) => [pool.pool_id], order: 'asc' },
  },
  end_users: {
    id: (user) => user.id,
    unique: { external_id: (user) => `${user.tenant_id}/${user.external_id}` },
    list: { scope: (user) => user.tenant_id, key: (user) => [user.created_at, user.id], order: 'asc' },
  },
  portfolios: {
    id: (portfolio) => portfolio.portfolio_id,
    list: {
      scope: (portfolio) => portfolio.end_user_id,
      key: (portfolio) => [portfolio.created_at, portfolio.portfolio_id],
      order: 'asc',
    },
  },
  transactions: {
    id: (transaction) => transaction.id,
    list: {
      scope: (transaction) => transaction.end_user_id,
      key: (transaction) => [transaction.created_at, transaction.id],
      order: 'desc',
    },
  },
  transfers: {
    id: (transfer) => transfer.id,
    list: { scope: () => 'all', key: (transfer) => [transfer.signed_at, transfer.id], order: 'asc' },
  },
  idempotency_keys: {
    id: (record) => record.id,
    // By age; padded to the number of digits of END_OF_TIME.
    list: {
      scope: () => 'all',
      key: (record) => [String(record.created_at_ms).padStart(15, '0'), record.id],
      order: 'asc',
    },
  },
}

/** One change: a whole record put in place, or a record removed by id. */
export type Write =
  | { [C in Collection]: { collection: C; put: Collections[C] } }[Collection]
  | { collection: Collection; remove: string }

/** The part of an ordered list to read. */
export interface PageQuery {
  scope: string
  limit: number
  /** Only records strictly after this position, in list order. */
  after?: SortKey
  /** Only the records that stand directly before this position, in list order. */
  before?: SortKey
  /** Leaves out records first put after this {@link Store.sequence}; they still count for `has_next` and `has_previous`. */
  up_to?: number
}

/** A part of an ordered list, always in list order. */
export interface PageResult<T> {
  items: T[]
  has_next: boolean
  has_previous: boolean
}

/**
 * The ledger's storage. It has primitives only; rules belong to the domain. Reads see every committed write. A caller must not
 * change a record that it got; it puts a new one.
 */
export interface Store {
  get<C extends Collection>(collection: C, id: string): Promise<Collections[C] | undefined>
  /** Look-up by one of the collection's unique indexes. At once, since every request looks for its tenant. */
  find<C extends Collection>(collection: C, index: string, value: string): Collections[C] | undefined
  page<C extends Collection>(collection: C, query: PageQuery): Promise<PageResult<Collections[C]>>
  /** Number of records in a scope of the ordered list. */
  count(collection: Collection, scope: string): Promise<number>
  /** Commits all writes or none, durable when the promise resolves. Rejects on a duplicate unique value and then writes nothing. */
  commit(writes: readonly Write[]): Promise<void>
  /** Number of records first put so far: a snapshot marker for paging. */
  readonly sequence: number
  /** Removes everything. */
  clear(): Promise<void>
  close(): Promise<void>
}
