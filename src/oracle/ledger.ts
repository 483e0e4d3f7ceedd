/** A transfer that a request asked for, as the ledger has it. */
export interface LedgerTransfer {
  transaction_id: string
  type: 'deposit' | 'withdraw'
  /** Slug. */
  tenant: string
  external_id: string
  /** The Idempotency-Key that it was asked for with, in lower case where case makes no difference. */
  key: string
  portfolio_id: string
  /** Minor units, a digit string. */
  amount_minor: string
  tx_hash: string
}

/** A portfolio, whoever made it. */
export interface LedgerPortfolio {
  tenant: string
  external_id: string
  portfolio_id: string
  pool_id: string
  token_symbol: string
  token_decimals: number
  /** The Idempotency-Key that it was made with; null when the fixture made it, or the key is not kept any more. */
  key: string | null
}

/** What requests have moved and made, by the ledger's word; transfers of the fixture are left out. */
export interface Ledger {
  /** Settled; oldest first. */
  transfers: readonly LedgerTransfer[]
  /** Signed, and not settled. */
  under_way: readonly LedgerTransfer[]
  portfolios: readonly LedgerPortfolio[]
}
