import { parseAbi, parseAbiParameters } from 'viem/utils'
import { view } from '../contract-read.ts'
import { call } from './call.ts'
import { balanceOf } from './erc20.ts'
import { erc4626Admin } from './erc4626-admin.ts'
import { event } from './events.ts'
import { fraction, priceOf, usd } from './figures.ts'
import type { Protocol } from './protocol.ts'

const VAULT = parseAbi([
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function totalAssets() view returns (uint256)',
  'function rate() view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
])

/** Several times what any of them takes. */
const GAS = 600_000n

const previewRedeem = view(VAULT, 'previewRedeem')
const totalAssets = view(VAULT, 'totalAssets')
const rate = view(VAULT, 'rate')
const deposit = call(VAULT, 'deposit', GAS)
const withdraw = call(VAULT, 'withdraw', GAS)
const redeem = call(VAULT, 'redeem', GAS)

// The accounts are indexed.
const MOVED = parseAbiParameters('uint256 assets, uint256 shares')
const deposited = event('Deposit(address,address,uint256,uint256)', MOVED)
const withdrawn = event('Withdraw(address,address,address,uint256,uint256)', MOVED)

/** An ERC-4626 vault; its yearly yield is told by `rate()` (1e18 is 100 %), which the standard lacks. */
export const erc4626: Protocol = {
  admin: erc4626Admin,

  valuation: (pool, shares) => ({
    read: previewRedeem(pool.market_address, shares),
    worth: (assets) => assets,
  }),

  async shares(reader, pool, wallet) {
    const [shares] = await reader([balanceOf(pool.market_address, wallet)])
    return shares
  },

  async market(reader, pool, priceOracle) {
    const [yearly, assets, price] = await reader([
      rate(pool.market_address),
      totalAssets(pool.market_address),
      priceOf(priceOracle, pool.token_address),
    ])
    return { apy: fraction(Number(yearly) / 1e18), tvl_usd: usd(assets, pool.token_decimals, price) }
  },

  deposit: (pool, wallet, amount) => deposit(pool.market_address, amount, wallet),

  // Redeeming names the shares themselves, so that nothing is left to rounding.
  withdraw: (pool, wallet, { amount, all }, shares) =>
    all ? redeem(pool.market_address, shares, wallet, wallet) : withdraw(pool.market_address, amount, wallet, wallet),

  movement(type, pool, logs) {
    const [amount, shares] = (type === 'deposit' ? deposited : withdrawn)(logs, pool.market_address)
    return { amount, shares }
  },
}
