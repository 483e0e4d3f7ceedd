// What is read of the service's answers. They may have more fields at any time: ignore what you do not know.
// Amounts are digit strings in the token's minor units: BigInt(amount), never a number.

export interface Pool {
  pool_id: string
  protocol: string
  chain_id: string
  token_symbol: string
  token_address: string
  market_address: string
  apy: string
}

export interface Portfolio {
  portfolio_id: string
  name: string
  deposited: string
  yield_earned: string
  total_balance: string
}

export interface Transfer {
  tx_hash: string
}

/** The specification shows `tx_hash` only; compare the other names with those of the service you use. */
export interface Transaction {
  id: string
  tx_hash: string
  portfolio_id: string
  /** `deposit`, `withdrawal`; others may come. */
  type: string
  amount_changed: string
}

export interface Page<T> {
  data: T[]
  next_cursor: string | null
}
