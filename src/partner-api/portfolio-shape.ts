import { Type } from '@sinclair/typebox'
import { named } from '../domain/described-schema.ts'
import type { ValuedPortfolio } from '../domain/portfolios.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { Address, Amount, ChainId, EXAMPLE_MARKET, Protocol, Timestamp } from './schemas.ts'

const head = {
  portfolio_id: Type.String({ description: 'Starts with jar_; the rest is opaque.', 'x-assumption': 'ids' }),
  name: Type.String({ description: '1 to 50 characters.' }),
  description: Type.Union([Type.String(), Type.Null()], { description: 'Null when not supplied.' }),
  chain_id: ChainId,
}

const tail = {
  market_address: Address('Pool or vault contract. It is not the token address.', EXAMPLE_MARKET),
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

/** The fields of the create-response shape. spec: Portfolio (flat) */
export const flatFields = (settings: ServiceSettings) => ({
  ...head,
  protocol: Protocol(settings),
  ...flatToken,
  ...tail,
})

/** spec: Portfolio, create-response shape (flat) */
export const FlatPortfolio = (settings: ServiceSettings) => named('Portfolio', Type.Object(flatFields(settings)))

const PortfolioToken = named(
  'PortfolioToken',
  Type.Object({
    symbol: Type.String({ description: 'Symbol of the token.' }),
    address: Address('The underlying token.'),
    decimals: Type.Integer({ description: 'Decimals of the token.' }),
  }),
)

/** spec: Portfolio, list items nest the token. Its other fields are assumption `list-portfolio-fields`. */
export const ListedPortfolio = (settings: ServiceSettings) =>
  named(
    'ListedPortfolio',
    Type.Object({
      ...head,
      protocol: Protocol(settings),
      token: PortfolioToken,
      ...tail,
      apy_snapshot: Type.Number({
        description: 'Current APY of the pool, a fraction of one.',
        'x-assumption': 'list-portfolio-fields',
      }),
      total_gross_yield_earned: Amount('Yield before fees.'),
      total_fees_paid: Type.String({ description: 'Always zero: the sandbox charges none.', 'x-assumption': 'fees' }),
      last_synced_at: Timestamp('When the balances were read from the chain.'),
    }),
  )

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
