import type { Operation } from './operations.ts'

/** `0x` and 40 hexadecimal digits, with the EIP-55 checksum wherever the sandbox writes one. */
export type Address = `0x${string}`

/** `0x` and an even number of hexadecimal digits. */
export type Hex = `0x${string}`

/** A JSON Web Key (RFC 7517); only the members that the sandbox reads are named. */
export interface Jwk {
  kty?: string
  kid?: string
  alg?: string
  use?: string
  n?: string
  e?: string
  [member: string]: unknown
}

/** Source of the keys that verify a tenant's user tokens: exactly one of three. */
export type UserKeySource = { jwks_uri: string } | { jwks: { keys: Jwk[] } } | { public_key_pem: string; kid: string }

/** A partner application registered with the service. */
export interface Tenant {
  tenant_id: string
  slug: string
  /** The `appid` claim of its identity-provider tokens. */
  client_id: string
  client_secret: string
  /** The `iss` claim that its user tokens must carry. */
  issuer: string
  user_keys: UserKeySource
  /** PKCS#8 PEM key with which the sandbox mints user tokens; absent if only the partner holds the key. */
  private_key_pem?: string
  /** `kid` of {@link Tenant.private_key_pem}. */
  kid?: string
  /** Operations that the tenant may call; others answer 403 insufficient_role. */
  access: 'all' | Operation[]
}

/** A lending market that one tenant may use. */
export interface Pool {
  tenant_id: string
  pool_id: string
  protocol: string
  chain_id: string
  token_symbol: string
  token_decimals: number
  token_address: Address
  market_address: Address
}

/** A person whom a tenant knows by `external_id`; owns one wallet address, the same on every chain. */
export interface EndUser {
  id: string
  tenant_id: string
  external_id: string
  wallet_address: Address
  /** Tokens that the wallet was made with. */
  funded: Funded[]
  created_at: string
}

/** Tokens that a wallet was made with on a chain, in minor units. */
export interface Funded {
  chain_id: string
  token_address: Address
  amount: string
}

/** A position of one end user in one pool. Amounts are digit strings in the token's minor units. */
export interface Portfolio {
  portfolio_id: string
  tenant_id: string
  end_user_id: string
  pool_id: string
  name: string
  description: string | null
  protocol: string
  chain_id: string
  token_symbol: string
  token_decimals: number
  token_address: Address
  market_address: Address
  /** Principal that is still in the position. */
  deposited: string
  /** Yield that withdrawals have paid out so far. */
  yield_earned_realized: string
  /** `yield_earned` in the answer to the last transaction: the base of the next one's `yield_delta`. */
  yield_earned_synced: string
  /** Id of the last transaction; null before the first. */
  last_transaction_id: string | null
  /** The position's part of the wallet's holding, in the protocol's own unit: Aave scaled balance or ERC-4626 shares. */
  shares: string
  compounding_enabled: boolean
  created_at: string
  updated_at: string
}

/** The worth of a portfolio that a client has seen in an answer. */
export interface Showing {
  portfolio_id: string
  /** The portfolio's last transaction at that time; a later one makes the showing outdated. */
  last_transaction_id: string | null
  total_balance: string
  /** The request whose answer showed it. */
  request_id: string
}

/** Kind of a transfer. */
export type TransferType = 'deposit' | 'withdrawal'

/** Kind of a transaction: a transfer, or the yield earned up to one (`service.yield_harvest`). */
export type TransactionType = TransferType | 'yield_harvest'

/** A settled transfer, or the yield recorded directly before one. */
export interface Transaction {
  id: string
  tenant_id: string
  end_user_id: string
  portfolio_id: string
  type: TransactionType
  /** Amount moved, in minor units; for a `yield_harvest` the yield. */
  amount_changed: string
  /** `yield_earned_after` − `yield_earned_before`; negative if a rounding on chain takes a unit. */
  yield_delta: string
  deposited_amount_before: string
  deposited_amount_after: string
  /** As the portfolio's previous transaction left it. */
  yield_earned_before: string
  /** `yield_earned` of the response; for a `yield_harvest` its value directly before the transfer. */
  yield_earned_after: string
  /** For a `yield_harvest`, the hash of the transfer it was recorded with. */
  tx_hash: Hex
  /** Only for a `yield_harvest`, as {@link HarvestQuote}. */
  fx_rate_usd?: string
  aave_apy?: string | null
  /** Scope key of the Idempotency-Key that caused it; null for seeding and yield. The API does not show it. */
  idempotency_id: string | null
  created_at: string
}

/**
 * A transfer between signing and settling: all data that a restart needs to finish it with the same bytes and hash and to answer
 * its request. Amounts are digit strings in minor units.
 */
export interface Transfer {
  /** Id of the transaction that it becomes. */
  id: string
  end_user_id: string
  portfolio_id: string
  type: TransferType
  chain_id: string
  tx_hash: Hex
  raw_transaction: Hex
  /** The amount decided. */
  amount: string
  /** The position's worth directly before the transfer, in the block it was signed for. */
  value_before: string
  /** Time of the block it was signed for, in Unix seconds. */
  block_timestamp: number
  /** The claim under which its outcome is kept; null for seeding. */
  claim: Claim | null
  /** For the yield recorded before it; absent if none is recorded. */
  harvest?: HarvestQuote
  signed_at: string
}

/** Fields of a `yield_harvest` beside the yield: the market before the transfer was signed. */
export interface HarvestQuote {
  /** The id of the record: below that of its transfer, so that lists show it as the older one. */
  id: string
  /** Price of a whole token in USD, a decimal number: `"1.00"`. */
  fx_rate_usd: string
  /** The pool's APY, a fraction of one; null for pools other than Aave's. */
  aave_apy: string | null
}

/** The right to carry out an operation under its Idempotency-Key, held by one request at a time, with the data that its outcome needs. */
export interface Claim {
  /** Tenant, operation, external_id and key. */
  id: string
  /** SHA-256 of the canonical request body. */
  fingerprint: string
  /** Id and path of the request, which an error body contains. */
  request_id: string
  instance: string
}

/** A finished operation's response, kept under its Idempotency-Key. */
export interface IdempotencyRecord {
  /** As in {@link Claim}. */
  id: string
  fingerprint: string
  status: number
  body: unknown
  /** Milliseconds of the sandbox clock. */
  created_at_ms: number
}
