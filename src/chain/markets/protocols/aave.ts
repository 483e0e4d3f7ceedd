import { parseAbi } from 'viem/utils'
import type { Address } from '../../../domain/records.ts'
import { type Reader, view } from '../../reading/view.ts'
import { aaveAdmin } from './aave-admin.ts'
import { compounded, rayDiv, rayDivCeil, rayDivFloor, rayMul, rayMulFloor, reserve } from './aave-reserve.ts'
import { balanceOf } from './erc20.ts'
import { call, event, exactUsd, fraction, type Protocol, priceOf, UnfitMarketError, usd } from './protocol.ts'

const POOL = parseAbi([
  'function POOL_REVISION() view returns (uint256)',
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
])
const PROVIDER = parseAbi(['function getPriceOracle() view returns (address)'])
const A_TOKEN = parseAbi([
  'function scaledBalanceOf(address user) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
])

/** Gas limit of each call: several times as much as either needs. */
const GAS = 1_000_000n

/** Revision of the pools of Aave v3.5, the first version that rounds every division in its own favour. Earlier ones round half up. */
const FIRST_DIRECTED_REVISION = 9n

/** Conversion between underlying amounts and scaled balances in a version of Aave, given the reserve's index in rays. */
export interface Rounding {
  worth(scaled: bigint, index: bigint): bigint
  minted(amount: bigint, index: bigint): bigint
  burned(amount: bigint, index: bigint): bigint
}

/** Rounding up to v3.4. */
export const HALF_UP: Rounding = { worth: rayMul, minted: rayDiv, burned: rayDiv }
/** Rounding from v3.5 on. */
export const DIRECTED: Rounding = { worth: rayMulFloor, minted: rayDivFloor, burned: rayDivCeil }

const poolRevision = view(POOL, 'POOL_REVISION')
const addressesProvider = view(POOL, 'ADDRESSES_PROVIDER')
const getPriceOracle = view(PROVIDER, 'getPriceOracle')
const getReserveNormalizedIncome = view(POOL, 'getReserveNormalizedIncome')
const scaledBalanceOf = view(A_TOKEN, 'scaledBalanceOf')
const totalSupply = view(A_TOKEN, 'totalSupply')
const supply = call(POOL, 'supply', GAS)
const withdraw = call(POOL, 'withdraw', GAS)

// The reserve, `onBehalfOf`, `to` and the referral code are indexed.
const supplied = event('Supply(address,address,address,uint256,uint16)', ['user', 'amount'])
const withdrawn = event('Withdraw(address,address,address,uint256)', ['amount'])
const reserveDataUpdated = event('ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256)', [
  'liquidityRate',
  'stableBorrowRate',
  'variableBorrowRate',
  'liquidityIndex',
  'variableBorrowIndex',
])

/** Aave V3. Shares are the scaled balance: the supplied amount divided by the income index at that moment. */
export const aave = aaveRounding(HALF_UP)
const aaveDirected = aaveRounding(DIRECTED)

function aaveRounding(rounding: Rounding): Protocol {
  return {
    admin: aaveAdmin,

    async survey(reader, pool) {
      const [revision] = await reader([poolRevision(pool.market_address)])
      const { aTokenAddress } = await reserve(reader, pool)
      if (BigInt(aTokenAddress) === 0n) {
        throw new UnfitMarketError(`has no reserve of ${pool.token_symbol} (${pool.token_address})`)
      }
      return revision < FIRST_DIRECTED_REVISION ? aave : aaveDirected
    },

    valuation: (pool, shares) => ({
      read: getReserveNormalizedIncome(pool.market_address, pool.token_address),
      worth: (index) => rounding.worth(shares, index),
    }),

    appraisal: (pool, amount) => ({
      reads: [getReserveNormalizedIncome(pool.market_address, pool.token_address)],
      worthless: ([index = 0n]) => rounding.minted(amount, index) === 0n,
    }),

    async shares(reader, pool, wallet) {
      const { aTokenAddress } = await reserve(reader, pool)
      const [scaled] = await reader([scaledBalanceOf(aTokenAddress, wallet)])
      return scaled
    },

    async market(reader, pool, priceOracle) {
      const { aTokenAddress, currentLiquidityRate } = await reserve(reader, pool)
      const [held, price] = await reader([totalSupply(aTokenAddress), priceOf(priceOracle, pool.token_address)])
      const apy = fraction(compounded(currentLiquidityRate))
      return { apy, tvl_usd: usd(held, pool.token_decimals, price), price_usd: exactUsd(price) }
    },

    // The aToken's contract holds what is not lent out.
    async liquidity(reader, pool) {
      const { aTokenAddress } = await reserve(reader, pool)
      const [idle] = await reader([balanceOf(pool.token_address, aTokenAddress)])
      return idle
    },

    deposit: (pool, wallet, amount) => supply(pool.market_address, pool.token_address, amount, wallet, 0),

    // Does not use Aave's amount for "everything" (2^256-1): the portfolios of a wallet share its aToken balance. The worth of
    // `shares` divided by the same index is exactly `shares` in both roundings (half up, then half up; down, then up), since the
    // index is at least one.
    withdraw: (pool, wallet, { amount }) => withdraw(pool.market_address, pool.token_address, amount, wallet),

    movement(type, pool, logs) {
      const market = pool.market_address
      const { liquidityIndex: index } = reserveDataUpdated(logs, market)
      if (type === 'withdrawal') {
        const { amount } = withdrawn(logs, market)
        return { amount, shares: rounding.burned(amount, index) }
      }
      const { amount } = supplied(logs, market)
      return { amount, shares: rounding.minted(amount, index) }
    },
  }
}

/** Reads the address of the oracle by which an Aave pool prices its reserves. */
export async function priceOracleOf(reader: Reader, pool: Address): Promise<Address> {
  const [provider] = await reader([addressesProvider(pool)])
  const [oracle] = await reader([getPriceOracle(provider)])
  return oracle
}
