import { encodeFunctionData, parseAbi } from 'viem/utils'
import { read } from '../contract-read.ts'
import { balanceOf } from './erc20.ts'
import { eventOf } from './events.ts'
import { fraction, priceOf, usd } from './figures.ts'
import type { Protocol } from './protocol.ts'

const VAULT = parseAbi([
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function totalAssets() view returns (uint256)',
  'function rate() view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
])

const GAS = 600_000n

/** An ERC-4626 vault; its yearly yield is told by `rate()` (1e18 is 100 %), which the standard lacks. */
export const erc4626: Protocol = {
  valuation: (pool, shares) => ({
    read: read(pool.market_address, VAULT, 'previewRedeem', [shares]),
    worth: (assets) => assets,
  }),

  async shares(reader, pool, wallet) {
    const [shares] = await reader([balanceOf(pool.market_address, wallet)])
    return shares
  },

  async market(reader, pool, priceOracle) {
    const [rate, assets, price] = await reader([
      read(pool.market_address, VAULT, 'rate', []),
      read(pool.market_address, VAULT, 'totalAssets', []),
      priceOf(priceOracle, pool.token_address),
    ])
    return { apy: fraction(Number(rate) / 1e18), tvl_usd: usd(assets, pool.token_decimals, price) }
  },

  deposit: (pool, wallet, amount) => ({
    to: pool.market_address,
    data: encodeFunctionData({ abi: VAULT, functionName: 'deposit', args: [amount, wallet] }),
    gas: GAS,
  }),

  // Redeeming names the shares themselves, so that nothing is left to rounding.
  withdraw: (pool, wallet, { amount, all }, shares) => ({
    to: pool.market_address,
    data: all
      ? encodeFunctionData({ abi: VAULT, functionName: 'redeem', args: [shares, wallet, wallet] })
      : encodeFunctionData({ abi: VAULT, functionName: 'withdraw', args: [amount, wallet, wallet] }),
    gas: GAS,
  }),

  movement(type, pool, logs) {
    const { assets, shares } = eventOf(logs, pool.market_address, VAULT, type === 'deposit' ? 'Deposit' : 'Withdraw')
    return { amount: assets, shares }
  },
}
