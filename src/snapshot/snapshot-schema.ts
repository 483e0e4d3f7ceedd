import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { END_OF_TIME } from '../domain/clock.ts'
import { MAX_SEED } from '../support/random.ts'

/*
 * Shapes of the parts of a snapshot. A snapshot may come from strangers, so every member is checked before anything uses it. A change of a
 * record of the ledger changes its shape here as well, and with it the form of snapshots: see FORM in snapshot-form.ts.
 */

const strict = <Members extends TProperties>(members: Members) => Type.Object(members, { additionalProperties: false })
const form = (pattern: string) => Type.String({ pattern })
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

const Text = Type.String({ maxLength: 4096 })
const Id = form('^[\\x20-\\x7e]{1,1024}$')
const ChainId = form('^[1-9][0-9]{0,15}$')
const Address = form('^0x[0-9a-fA-F]{40}$')
const Hash = form('^0x[0-9a-f]{64}$')
const Bytes = form('^0x(?:[0-9a-f]{2})*$')
const Quantity = form('^0x[0-9a-f]{1,64}$')
const Digits = form('^[0-9]{1,80}$')
const Signed = form('^-?[0-9]{1,80}$')
const Decimal = form('^[0-9]{1,80}(?:\\.[0-9]{1,80})?$')
const Moment = form('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$')
const Milliseconds = Type.Integer({ minimum: 0, maximum: END_OF_TIME })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Base64 = form('^[A-Za-z0-9+/]*={0,2}$')
const Kind = Type.Union([Type.Literal('deposit'), Type.Literal('withdrawal')])

const PoolMembers = {
  pool_id: Id,
  protocol: Id,
  chain_id: ChainId,
  token_symbol: Id,
  token_decimals: Type.Integer({ minimum: 0, maximum: 36 }),
  token_address: Address,
  market_address: Address,
}
const quote = { fx_rate_usd: Decimal, aave_apy: orNull(Text) }

/** Shape of each collection's records. Of a tenant, only the id is kept: the rest is in the fixture, or secret. */
const RECORDS = {
  tenants: strict({ tenant_id: Id }),
  pools: strict({ tenant_id: Id, ...PoolMembers }),
  end_users: strict({
    id: Id,
    tenant_id: Id,
    external_id: Text,
    wallet_address: Address,
    funded: Type.Array(strict({ chain_id: ChainId, token_address: Address, amount: Digits })),
    created_at: Moment,
  }),
  portfolios: strict({
    portfolio_id: Id,
    tenant_id: Id,
    end_user_id: Id,
    name: Text,
    description: orNull(Text),
    ...PoolMembers,
    deposited: Digits,
    yield_earned_realized: Signed,
    yield_earned_synced: Signed,
    last_transaction_id: orNull(Id),
    shares: Digits,
    compounding_enabled: Type.Boolean(),
    created_at: Moment,
    updated_at: Moment,
  }),
  transactions: strict({
    id: Id,
    tenant_id: Id,
    end_user_id: Id,
    portfolio_id: Id,
    type: Type.Union([Kind, Type.Literal('yield_harvest')]),
    amount_changed: Signed,
    yield_delta: Signed,
    deposited_amount_before: Digits,
    deposited_amount_after: Digits,
    yield_earned_before: Signed,
    yield_earned_after: Signed,
    tx_hash: Hash,
    fx_rate_usd: Type.Optional(quote.fx_rate_usd),
    aave_apy: Type.Optional(quote.aave_apy),
    idempotency_id: orNull(Text),
    created_at: Moment,
  }),
  transfers: strict({
    id: Id,
    end_user_id: Id,
    portfolio_id: Id,
    type: Kind,
    chain_id: ChainId,
    tx_hash: Hash,
    raw_transaction: Bytes,
    amount: Digits,
    value_before: Digits,
    block_timestamp: Count,
    claim: orNull(strict({ id: Text, fingerprint: Text, request_id: Id, instance: Text })),
    harvest: Type.Optional(strict({ id: Id, ...quote })),
    signed_at: Moment,
  }),
  idempotency_keys: strict({
    id: Text,
    fingerprint: Text,
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    body: Type.Unknown(),
    created_at_ms: Milliseconds,
  }),
}

/** Name of a collection, the store's sequence at which the record was first put, and the record. */
const Put = Type.Union([
  Type.Tuple([Type.Literal('tenants'), Count, RECORDS.tenants]),
  Type.Tuple([Type.Literal('pools'), Count, RECORDS.pools]),
  Type.Tuple([Type.Literal('end_users'), Count, RECORDS.end_users]),
  Type.Tuple([Type.Literal('portfolios'), Count, RECORDS.portfolios]),
  Type.Tuple([Type.Literal('transactions'), Count, RECORDS.transactions]),
  Type.Tuple([Type.Literal('transfers'), Count, RECORDS.transfers]),
  Type.Tuple([Type.Literal('idempotency_keys'), Count, RECORDS.idempotency_keys]),
])

/** Part `ledger`: records, in any order. */
export const LedgerSchema = Type.Array(Put)

/** Part `showings`: what answers last showed of portfolios. */
export const ShowingsSchema = Type.Array(
  strict({ portfolio_id: Id, last_transaction_id: orNull(Id), total_balance: Digits, request_id: Id }),
)

/** Part `chain`: the state after the last block. */
export const ChainSchema = strict({
  block: Type.Object(
    {
      number: Quantity,
      hash: Hash,
      parentHash: Hash,
      timestamp: Quantity,
      miner: Address,
      transactions: Type.Array(Hash),
    },
    { additionalProperties: Type.Union([Type.String({ maxLength: 2048 }), Type.Null(), Type.Array(Type.Unknown())]) },
  ),
  accounts: Type.String(),
  forked: Type.Optional(Count),
  hardfork: Type.Optional(form('^[a-z][a-z0-9_]{0,31}$')),
})

/** The accounts of a part `chain`, which are JSON in a text. */
export const AccountsSchema = Type.Record(
  Address,
  strict({
    nonce: Count,
    balance: Quantity,
    code: Bytes,
    storage: Type.Record(Quantity, Quantity, { additionalProperties: false }),
  }),
  { additionalProperties: false },
)

/** Part `blocks`: consecutive blocks of a chain, compressed. */
export const BlocksSchema = strict({
  first: Count,
  counts: Type.Array(Count, { minItems: 1, maxItems: 4096 }),
  hashes: Base64,
  transactions: Base64,
  blocks: Base64,
})

/** Part `about`, the first: what the state is. */
export const AboutSchema = strict({
  /** Real time. */
  taken_at: Moment,
  /** Name of the namespace. */
  namespace: Id,
  seed: Type.Integer({ minimum: 0, maximum: MAX_SEED }),
  /** Number of restarts of the state. */
  run: Type.Integer({ minimum: 0, maximum: 1e9 }),
  /** Business time. */
  clock: strict({ now: Milliseconds, frozen: Type.Boolean() }),
  /** Business time to which a reset leads, frozen; null for real time. */
  clock_start: orNull(Milliseconds),
  /** True if faults have broken something on its chains. */
  owes_repairs: Type.Boolean(),
  /** The store's sequence, and business time of its last write. */
  ledger: strict({ sequence: Count, at: Milliseconds }),
  protocols: Type.Tuple([Id, Id]),
  chains: Type.Array(
    strict({
      chain_id: ChainId,
      forked: Type.Boolean(),
      price_oracle: Type.Optional(Address),
    }),
    { minItems: 1, maxItems: 16 },
  ),
  /** Sections of the fixture file, without secrets; the loader of fixtures checks them. */
  service: Type.Optional(Type.Object({})),
  pools: Type.Array(Type.Object({})),
  tenants: Type.Array(
    Type.Object({
      tenant_id: Id,
      slug: Id,
      client_id: Id,
      /** Public keys of its user tokens; absent if they are fetched from an address. */
      user_keys: Type.Optional(
        Type.Union([
          strict({ jwks: strict({ keys: Type.Array(Type.Object({})) }) }),
          strict({ public_key_pem: Type.String({ maxLength: 65_536 }), kid: Id }),
        ]),
      ),
    }),
  ),
})

/** What a snapshot says of itself. */
export type SnapshotAbout = Static<typeof AboutSchema>
/** A tenant of a snapshot. */
export type SnapshotTenant = SnapshotAbout['tenants'][number]
/** A record of a snapshot's ledger. */
export type SnapshotPut = Static<typeof Put>
/** Names of the collections, in the order of {@link RECORDS}. */
export const SNAPSHOT_COLLECTIONS = Object.keys(RECORDS) as (keyof typeof RECORDS)[]
