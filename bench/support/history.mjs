import { times } from './stats.mjs'

const USERS = 8
const PORTFOLIOS_EACH = 8

/** Portfolios of a few end users on Aave's USDC. */
export async function openPortfolios(tenant) {
  const { data } = await tenant.pools()
  const pool = data.find(({ protocol, token_symbol }) => protocol === 'aave' && token_symbol === 'USDC')
  const portfolios = []
  for (let i = 0; i < USERS; i++) {
    const user = await tenant.endUser(`user-${i}`)
    for (let j = 0; j < PORTFOLIOS_EACH; j++) portfolios.push(await user.portfolio(pool))
  }
  return portfolios
}

/** So many deposits, as fast as they go: one at a time into each portfolio. */
export function depositMany(portfolios, count) {
  return times(count, portfolios.length, (i) => portfolios[i % portfolios.length].deposit(1_000))
}
