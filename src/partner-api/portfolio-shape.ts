import { Type } from '@sinclair/typebox'
import type { ValuedPortfolio } from '../domain/portfolios.ts'
import { Address, Amount, ChainId, Timestamp } from './schemas.ts'

const head = {
  portfolio_id: Type.String({ description: 'Starts with jar_; the rest is opaque.', 'x-assumption': 'ids' }),
  name: Type.String({ description: '1 to 50 characters.' }),
  description: Type.Union([Type.String(), Type.Null()], { description: 'Null when not supplied.' }),
  protocol: Type.String({ description: 'Lending protocol.', 'x-assumption': 'protocol-names' }),
  chain_id: ChainId,
}

const tail = {
  market_address: Address('Pool or vault contract. It is not the token address.'),
  deposited: Amount('Principal still in.'),
  yield_earned: Amount('total_balance − deposited + yield_earned_realized, never below zero.'),
  yield_earned_realized: Amount('Yield paid out by withdrawals so far.'),
  total_balance: Amount('What the position is worth on chain now.'),
  compounding_enabled: Type.Boolean({ description: 'True on a newly created portfolio.' }),
  created_at: Timestamp('When the portfolio was created.'),
  updated_at: Timestamp('When a transfer last changed it.'),
}

const flatToken = {
  token_address: Address('The underlying token.'),
  token_symbol: Type.String({ description: 'Symbol of the token.' }),
  token_decimals: Type.Integer({ description: 'Decimals of the token.' }),
}

/** spec: Portfolio, create-response shape (flat) */
export const FlatPortfolio = Type.Object({ ...head, ...flatToken, ...tail })

/** spec: Portfolio, list items nest the token. Its other fields are assumption `list-portfolio-fields`. */
export const ListedPortfolio = Type.Object({
  ...head,
  token: Type.Object({ symbol: Type.String(), address: Address('The underlying token.'), decimals: Type.Integer() }),
  ...tail,
  apy_snapshot: Type.Number({
    description: 'Current APY of the pool, a fraction of one.',
    'x-assumption': 'list-portfolio-fields',
  }),
  total_gross_yield_earned: Amount('Yield before fees.'),
  total_fees_paid: Type.String({ description: 'Always zero: the sandbox charges none.', 'x-assumption': 'fees' }),
  last_synced_at: Timestamp('When the balances were read from the chain.'),
})

/** The flat shape. Both shapes describe the same data (spec: Resources). */
export function flatPortfolio(valued: ValuedPortfolio) {
  const { token_address, token_symbol, token_decimals } = valued.portfolio
  const { head, tail } = parts(valued)
  return { ...head, token_address, token_symbol, token_decimals, ...tail }
}

/** The list shape, with the token nested. */
export function listedPortfolio(valued: ValuedPortfolio, apy: string, syncedAt: string) {
  const { token_address: address, token_symbol: symbol, token_decimals: decimals } = valued.portfolio
  const { head, tail } = parts(valued)
  return {
    ...head,
    token: { symbol, address, decimals },
    ...tail,
    apy_snapshot: Number(apy),
    total_gross_yield_earned: valued.balances.yield_earned,
    total_fees_paid: '0',
    last_synced_at: syncedAt,
  }
}

function parts({ portfolio, balances }: ValuedPortfolio) {
  const { portfolio_id, name, description, protocol, chain_id } = portfolio
  const { market_address, compounding_enabled, created_at, updated_at } = portfolio
  return {
    head: { portfolio_id, name, description, protocol, chain_id },
    tail: { market_address, ...balances, compounding_enabled, created_at, updated_at },
  }
}

/** The flat shape of a new portfolio, for the interface description. */
export const EXAMPLE_PORTFOLIO = {
  portfolio_id: 'jar_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
  name: 'Rainy day',
  description: null,
  protocol: 'aave',
  chain_id: '31337',
  token_address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  token_symbol: 'USDC',
  token_decimals: 6,
  market_address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
  deposited: '0',
  yield_earned: '0',
  yield_earned_realized: '0',
  total_balance: '0',
  compounding_enabled: true,
  created_at: '2026-01-02T03:04:05.678Z',
  updated_at: '2026-01-02T03:04:05.678Z',
}
