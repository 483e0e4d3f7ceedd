import { grouped } from '../support/maps.ts'
import type { EndUserMoney } from './contract.ts'

/** Sums of an end user's portfolios and wallets, a line for each token. */
export function totalsOf({
  portfolios,
  balances,
}: Pick<EndUserMoney, 'portfolios' | 'balances'>): EndUserMoney['totals'] {
  const nameOf = ({ token_symbol, token_decimals }: { token_symbol: string; token_decimals: number }) =>
    `${token_symbol} ${token_decimals}`
  const held = grouped(balances, nameOf)
  const invested = grouped(portfolios, nameOf)
  return [...new Set([...invested.keys(), ...held.keys()])].flatMap((name) => {
    const own = invested.get(name) ?? []
    const wallets = held.get(name) ?? []
    const [token] = [...own, ...wallets]
    if (!token) return []
    const { token_symbol, token_decimals } = token
    return {
      ...{ token_symbol, token_decimals },
      principal_minor: sumOf(own.map(({ principal_minor }) => principal_minor)) ?? '0',
      yield_minor: sumOf(own.map(({ yield_minor }) => yield_minor)),
      wallet_minor: sumOf(wallets.map(({ amount_minor }) => amount_minor)),
    }
  })
}

/** Null if one of the amounts is not known. */
function sumOf(amounts: readonly (string | null)[]): string | null {
  let sum = 0n
  for (const amount of amounts) {
    if (amount === null) return null
    sum += BigInt(amount)
  }
  return sum.toString()
}
