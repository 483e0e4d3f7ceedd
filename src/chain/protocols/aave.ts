import { encodeFunctionData, parseAbi } from 'viem/utils'
import type { Address, Pool } from '../../domain/records.ts'
import { type Reader, read } from '../contract-read.ts'
import { eventOf } from './events.ts'
import { fraction, priceOf, usd } from './figures.ts'
import type { Protocol } from './protocol.ts'
import { RAY, rayDiv, rayMul } from './ray-math.ts'

const POOL = parseAbi([
  'struct ReserveData { uint256 configuration; uint128 liquidityIndex; uint128 currentLiquidityRate; uint128 variableBorrowIndex; uint128 currentVariableBorrowRate; uint128 currentStableBorrowRate; uint40 lastUpdateTimestamp; uint16 id; address aTokenAddress; address stableDebtTokenAddress; address variableDebtTokenAddress; address interestRateStrategyAddress; uint128 accruedToTreasury; uint128 unbacked; uint128 isolationModeTotalDebt; }',
  'function getReserveData(address asset) view returns (ReserveData)',
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
  'event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount, uint16 indexed referralCode)',
  'event Withdraw(address indexed reserve, address indexed user, address indexed to, uint256 amount)',
  'event ReserveDataUpdated(address indexed reserve, uint256 liquidityRate, uint256 stableBorrowRate, uint256 variableBorrowRate, uint256 liquidityIndex, uint256 variableBorrowIndex)',
])
const A_TOKEN = parseAbi([
  'function scaledBalanceOf(address user) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
])

const SECONDS_PER_YEAR = 365 * 24 * 60 * 60
const GAS = 1_000_000n

/** Aave V3. Shares are the scaled balance: what was supplied, divided by the income index at that moment. */
export const aave: Protocol = {
  valuation: (pool, shares) => ({
    read: read(pool.market_address, POOL, 'getReserveNormalizedIncome', [pool.token_address]),
    worth: (index) => rayMul(shares, index),
  }),

  async shares(reader, pool, wallet) {
    const { aTokenAddress } = await reserve(reader, pool)
    const [scaled] = await reader([read(aTokenAddress, A_TOKEN, 'scaledBalanceOf', [wallet])])
    return scaled
  },

  async market(reader, pool, priceOracle) {
    const { aTokenAddress, currentLiquidityRate } = await reserve(reader, pool)
    const [supply, price] = await reader([
      read(aTokenAddress, A_TOKEN, 'totalSupply', []),
      priceOf(priceOracle, pool.token_address),
    ])
    return { apy: fraction(compounded(currentLiquidityRate)), tvl_usd: usd(supply, pool.token_decimals, price) }
  },

  deposit: (pool, wallet, amount) => ({
    to: pool.market_address,
    data: encodeFunctionData({ abi: POOL, functionName: 'supply', args: [pool.token_address, amount, wallet, 0] }),
    gas: GAS,
  }),

  // Never the "everything" of Aave (2^256-1): portfolios of one wallet share its aToken balance. The worth of `shares`,
  // divided by the same index, gives exactly `shares` back: both roundings are half up and the index is at least one.
  withdraw: (pool, wallet, { amount }) => ({
    to: pool.market_address,
    data: encodeFunctionData({ abi: POOL, functionName: 'withdraw', args: [pool.token_address, amount, wallet] }),
    gas: GAS,
  }),

  movement(type, pool, logs) {
    const { amount } = eventOf(logs, pool.market_address, POOL, type === 'deposit' ? 'Supply' : 'Withdraw')
    const { liquidityIndex } = eventOf(logs, pool.market_address, POOL, 'ReserveDataUpdated')
    return { amount, shares: rayDiv(amount, liquidityIndex) }
  },
}

async function reserve(reader: Reader, pool: Pool): Promise<{ aTokenAddress: Address; currentLiquidityRate: bigint }> {
  const [data] = await reader([read(pool.market_address, POOL, 'getReserveData', [pool.token_address])])
  return data
}

/** A yearly rate in rays, compounded every second as Aave's own front end shows it. */
function compounded(rate: bigint): number {
  return Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(rate) / Number(RAY) / SECONDS_PER_YEAR))
}
