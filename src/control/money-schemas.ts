import { Type } from '@sinclair/typebox'
import type { EndUserMoney, MoneyOverview, MoneyPoint } from './contract.ts'
import { Count, control, Moment, orNull, Text } from './schema-parts.ts'

const Amount = (description: string) =>
  Type.String({ pattern: '^-?[0-9]+$', description: `${description} Minor units, a digit string.` })
const Unreachable = 'Null when the chain cannot be reached.'
const Decimals = Type.Integer({ minimum: 0, description: 'Decimals of the token.' })
const Token = { token_symbol: Text('Symbol of the token.'), token_decimals: Decimals }
const OperationNumber = Type.Integer({ minimum: 1, description: 'Number of the first request of the operation.' })

const MoneyPointSchema = control<MoneyPoint>(
  'MoneyPoint',
  Type.Object({
    at: Moment('Business time.'),
    principal_minor: Amount('Principal then.'),
    yield_minor: Amount('All that was earned until then, also what withdrawals have paid out.'),
    operation_number: orNull(OperationNumber, 'Null when no operation on record moved money here.'),
  }),
)

const WalletBalanceSchema = control<EndUserMoney['balances'][number]>(
  'WalletTokenBalance',
  Type.Object({
    chain_id: Text('The chain.'),
    ...Token,
    token_address: Text('Address of the token.'),
    amount_minor: orNull(Amount('What the wallet holds.'), Unreachable),
  }),
)

const PortfolioMoneySchema = control<EndUserMoney['portfolios'][number]>(
  'PortfolioMoney',
  Type.Object({
    portfolio_id: Text('Its id.'),
    name: Text('Its name.'),
    pool_id: Text('Its pool.'),
    chain_id: Text('The chain of its pool.'),
    ...Token,
    principal_minor: Amount('Principal that is still in.'),
    yield_minor: orNull(Amount('All that it has earned, also what withdrawals have paid out.'), Unreachable),
    balance_minor: orNull(Amount('What it is worth.'), Unreachable),
    apy: orNull(Text('Yearly yield of its pool as a fraction.'), Unreachable),
    series: Type.Array(MoneyPointSchema, {
      description:
        'Oldest first: where it was made, two points for every transfer, the present. Lines in between are right.',
    }),
  }),
)

const TotalSchema = control<EndUserMoney['totals'][number]>(
  'MoneyTotal',
  Type.Object({
    ...Token,
    principal_minor: Amount('Principal of all portfolios.'),
    yield_minor: orNull(Amount('All that they have earned.'), Unreachable),
    wallet_minor: orNull(Amount('What the wallet holds, on all chains.'), Unreachable),
  }),
)

const SurplusSchema = control<EndUserMoney['surplus'][number]>(
  'Surplus',
  Type.Object({
    ...Token,
    amount_minor: Amount('What is in the portfolios beyond what was asked for; negative for too little.'),
    operation_numbers: Type.Array(OperationNumber, { description: 'The operations that moved it.' }),
  }),
)

const EndUserMoneySchema = control<EndUserMoney>(
  'EndUserMoney',
  Type.Object({
    tenant: Text('Slug of its tenant.'),
    external_id: Text('Its name at the tenant.'),
    wallet_address: Text('Address of its wallet, on every chain.'),
    balances: Type.Array(WalletBalanceSchema, { description: "Tokens of its tenant's pools." }),
    portfolios: Type.Array(PortfolioMoneySchema),
    totals: Type.Array(TotalSchema, { description: 'Portfolios and wallets together, a line for each token.' }),
    surplus: Type.Array(SurplusSchema, { description: 'Money that operations moved beyond what was asked for.' }),
  }),
)

const PoolMoneySchema = control<MoneyOverview['pools'][number]>(
  'PoolMoney',
  Type.Object({
    tenant: Text('Slug of its tenant.'),
    pool_id: Text('Its id.'),
    protocol: Text('Its protocol.'),
    chain_id: Text('Its chain.'),
    ...Token,
    market_address: Text('Address of its market.'),
    apy: orNull(Text('Yearly yield as a fraction.'), Unreachable),
    tvl_usd: orNull(Text('What is in it, in USD.'), Unreachable),
    liquidity_minor: orNull(
      Amount('What withdrawals can take out now.'),
      'Null when the market does not show it, or the chain cannot be reached.',
    ),
  }),
)

export const MoneyOverviewSchema = control<MoneyOverview>(
  'MoneyOverview',
  Type.Object({
    at: Moment('Business time.'),
    end_users: Type.Array(EndUserMoneySchema, { description: 'In the order in which they were made.' }),
    more: Count('Further end users that match.'),
    pools: Type.Array(PoolMoneySchema, { description: 'Of every tenant.' }),
    checks: orNull(
      Type.Object({ held: Count('Those that hold.'), all: Count('All of them.') }, { description: 'Of the audit.' }),
      'Null when they were not asked for, or a chain cannot be reached.',
    ),
    unavailable: Type.Array(Type.Object({ chain_id: Text('The chain.'), reason: Text('Why.') }), {
      description: 'Chains that cannot be reached.',
    }),
  }),
)
