import type { Operation } from './operations.ts'

/** `0x` and 40 hexadecimal digits, EIP-55 checksummed wherever the sandbox writes one. */
export type Address = `0x${string}`

/** `0x` and an even number of hexadecimal digits. */
export type Hex = `0x${string}`

/** A JSON Web Key (RFC 7517); only the members the sandbox reads are named. */
export interface Jwk {
  kty?: string
  kid?: string
  alg?: string
  use?: string
  n?: string
  e?: string
  [member: string]: unknown
}

/** Where the keys that verify a tenant's user tokens come from: exactly one of three. */
export type UserKeySource = { jwks_uri: string } | { jwks: { keys: Jwk[] } } | { public_key_pem: string; kid: string }

/** A partner application registered with the service. */
export interface Tenant {
  tenant_id: string
  slug: string
  /** The `appid` claim of its identity-provider tokens. */
  client_id: string
  client_secret: string
  /** The `iss` claim its user tokens must carry. */
  issuer: string
  user_keys: UserKeySource
  /** PKCS#8 PEM the sandbox mints user tokens with; absent when only the partner holds the key. */
  private_key_pem?: string
  /** `kid` of {@link Tenant.private_key_pem}. */
  kid?: string
  /** Operations the tenant may call; others answer 403 insufficient_role. */
  access: 'all' | Operation[]
}

/** A lending market one tenant may use. */
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

/** A person known to a tenant by `external_id`; owns one wallet address, the same on every chain. */
export interface EndUser {
  id: string
  tenant_id: string
  external_id: string
  wallet_address: Address
  /** What the wallet was given when it was made. */
  funded: Funded[]
  created_at: string
}

/** Tokens a wallet was given on a chain, in minor units. */
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
  /** Principal still in. */
  deposited: string
  /** Yield paid out by withdrawals so far. */
  yield_earned_realized: string
  /** `yield_earned` as the answer to the last transaction showed it: the base of the next one's `yield_delta`. */
  yield_earned_synced: string
  /** Id of the last transaction; null before the first. */
  last_transaction_id: string | null
  /** The position's part of the wallet's holding, in the protocol's own unit: Aave scaled balance or ERC-4626 shares. */
  shares: string
  compounding_enabled: boolean
  created_at: string
  updated_at: string
}

/** What an answer that was received showed a portfolio to be worth. */
export interface Showing {
  portfolio_id: string
  /** The portfolio's last transaction then; a later one makes the showing outdated. */
  last_transaction_id: string | null
  total_balance: string
  /** The request that it answered. */
  request_id: string
}

/** What a transfer does. */
export type TransferType = 'deposit' | 'withdrawal'

/** What a transaction records: a transfer, or the yield that was earned up to one (`service.yield_harvest`). */
export type TransactionType = TransferType | 'yield_harvest'

/** A settled transfer, or the yield recorded directly before one. */
export interface Transaction {
  id: string
  tenant_id: string
  end_user_id: string
  portfolio_id: string
  type: TransactionType
  /** What was moved, in minor units; of a `yield_harvest` the yield. */
  amount_changed: string
  /** `yield_earned_after` − `yield_earned_before`: below zero when a rounding on chain takes a unit. */
  yield_delta: string
  deposited_amount_before: string
  deposited_amount_after: string
  /** As the portfolio's previous transaction left it. */
  yield_earned_before: string
  /** `yield_earned` of the response; of a `yield_harvest` what it was directly before the transfer. */
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
 * A transfer between signing and settling: all that a restart needs to finish it with the same bytes and hash, and to
 * answer for it. Amounts are digit strings in minor units.
 */
export interface Transfer {
  /** The id of the transaction it becomes. */
  id: string
  end_user_id: string
  portfolio_id: string
  type: TransferType
  chain_id: string
  tx_hash: Hex
  raw_transaction: Hex
  /** What was decided. */
  amount: string
  /** The position's worth directly before the transfer, in the block it was signed for. */
  value_before: string
  /** Time of the block it was signed for, in Unix seconds. */
  block_timestamp: number
  /** Where its outcome is kept; null for seeding. */
  claim: Claim | null
  /** For the yield to be recorded before it; absent if none is to be. */
  harvest?: HarvestQuote
  signed_at: string
}

/** What a `yield_harvest` says beside the yield: the market as it was before the transfer was signed. */
export interface HarvestQuote {
  /** The id it gets: below that of its transfer, so that it is listed as the older one. */
  id: string
  /** USD for a whole token, a decimal number: `"1.00"`. */
  fx_rate_usd: string
  /** The pool's APY, a fraction of one; null unless it is Aave's. */
  aave_apy: string | null
}

/** The right to carry out an operation under its Idempotency-Key, held by one request at a time, and what its outcome says of it. */
export interface Claim {
  /** Tenant, operation, external_id and key. */
  id: string
  /** SHA-256 of the canonical request body. */
  fingerprint: string
  /** The request, as an error body names it: its id and path. */
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
