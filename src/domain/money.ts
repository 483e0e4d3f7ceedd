/** What one end user has. */
export interface PoolMoney {
  pool_id: string
  token_symbol: string
  token_decimals: number
  principal: string
  transfers: { type: 'deposit' | 'withdraw'; amount_minor: string; tx_hash: string; transaction_id: string }[]
}
export interface UserMoney {
  tenant: string
  external_id: string
  pools: PoolMoney[]
  wallet: { token_symbol: string; token_decimals: number; chain_id: string; balance: string }[]
}
export interface Money {
  users: UserMoney[]
}
