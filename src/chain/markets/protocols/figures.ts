import { parseAbi } from 'viem/utils'
import { view } from '../../reading/view.ts'

const PRICE_ORACLE = parseAbi(['function getAssetPrice(address asset) view returns (uint256)'])

/** USD price of a whole token with 8 decimals, by Aave's oracle: `priceOf(oracle, token)`. */
export const priceOf = view(PRICE_ORACLE, 'getAssetPrice')

/** USD with two decimals. `amount` in minor units of a token with so many decimals; `price` as {@link priceOf} gives it. */
export function usd(amount: bigint, tokenDecimals: number, price: bigint): string {
  return decimal((amount * price * 100n) / 10n ** BigInt(tokenDecimals + 8), 2)
}

/** USD for a whole token, with two decimals or as many as it takes: `"1.00"`, `"0.99987"`. `price` as {@link priceOf} gives it. */
export function exactUsd(price: bigint): string {
  return decimal(price, 8).replace(/0{1,6}$/, '')
}

/** A fraction of one with six decimals: `0.0403214` is written `"0.040321"`. */
export function fraction(value: number): string {
  return value.toFixed(6)
}

function decimal(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
