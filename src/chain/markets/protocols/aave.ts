import { parseAbi, stringToHex } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import type { Address } from '../../../domain/records.ts'
import { type Reader, view } from '../../reading/view.ts'
import {
  balanceOf,
  call,
  event,
  exactUsd,
  fraction,
  type MarketAdmin,
  type Protocol,
  priceOf,
  UnfitMarketError,
  usd,
} from './protocol.ts'

const POOL = parseAbi([
  'function POOL_REVISION() view returns (uint256)',
  'function ADDRESSES_PROVIDER() view returns (address)',
  'struct ReserveData { uint256 configuration; uint128 liquidityIndex; uint128 currentLiquidityRate; uint128 variableBorrowIndex; uint128 currentVariableBorrowRate; uint128 currentStableBorrowRate; uint40 lastUpdateTimestamp; uint16 id; address aTokenAddress; address stableDebtTokenAddress; address variableDebtTokenAddress; address interestRateStrategyAddress; uint128 accruedToTreasury; uint128 unbacked; uint128 isolationModeTotalDebt; }',
  'function getReserveData(address asset) view returns (ReserveData)',
  'function getConfiguration(address asset) view returns (uint256)',
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
])
const PROVIDER = parseAbi([
  'function getPoolConfigurator() view returns (address)',
  'function getAddress(bytes32 id) view returns (address)',
  'function getPriceOracle() view returns (address)',
])
const A_TOKEN = parseAbi([
  'function scaledBalanceOf(address user) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
])
const CONFIGURATOR = parseAbi([
  'function setReservePause(address asset, bool paused)',
  'function setReserveInterestRateStrategyAddress(address asset, address strategy)',
])
/** contracts/SettableRates.sol */
const SETTABLE_RATES = parseAbi([
  'function original(address reserve) view returns (address)',
  'function setRate(address reserve, uint256 rate)',
])

/** Gas limit of each call: several times as much as any of them needs. */
const GAS = 1_000_000n

const poolRevision = view(POOL, 'POOL_REVISION')
const addressesProvider = view(POOL, 'ADDRESSES_PROVIDER')
const getReserveData = view(POOL, 'getReserveData')
const getConfiguration = view(POOL, 'getConfiguration')
const getReserveNormalizedIncome = view(POOL, 'getReserveNormalizedIncome')
const getPriceOracle = view(PROVIDER, 'getPriceOracle')
const getPoolConfigurator = view(PROVIDER, 'getPoolConfigurator')
const getAddress = view(PROVIDER, 'getAddress')
const scaledBalanceOf = view(A_TOKEN, 'scaledBalanceOf')
const totalSupply = view(A_TOKEN, 'totalSupply')
const originalStrategy = view(SETTABLE_RATES, 'original')
const supply = call(POOL, 'supply', GAS)
const withdraw = call(POOL, 'withdraw', GAS)
const setReservePause = call(CONFIGURATOR, 'setReservePause', GAS)
const setStrategy = call(CONFIGURATOR, 'setReserveInterestRateStrategyAddress', GAS)
const setRate = call(SETTABLE_RATES, 'setRate', GAS)

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

/** Aave's unit of indexes and rates: 27 decimals. */
export const RAY = 10n ** 27n

/** Aave's multiplication of rays; rounds half up. */
function rayMul(a: bigint, b: bigint): bigint {
  return (a * b + RAY / 2n) / RAY
}

/** Aave's division of rays; rounds half up. */
function rayDiv(a: bigint, b: bigint): bigint {
  return (a * RAY + b / 2n) / b
}

/** Rounds down. */
function rayMulFloor(a: bigint, b: bigint): bigint {
  return (a * b) / RAY
}

/** Rounds down. */
function rayDivFloor(a: bigint, b: bigint): bigint {
  return (a * RAY) / b
}

/** Rounds up. */
function rayDivCeil(a: bigint, b: bigint): bigint {
  return (a * RAY + b - 1n) / b
}

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

/** The bit of a reserve's configuration that is set while the reserve is paused. */
const PAUSED = 1n << 60n
/** Id of the settable rates at the embedded market's addresses provider. */
const RATES_ID = stringToHex('SETTABLE_RATES', { size: 32 })

/** Pauses a reserve by Aave's own method, and sets its rate by replacing the reserve's interest rate strategy. */
const aaveAdmin: MarketAdmin = {
  async setPaused(reader, pool, paused) {
    const { configurator } = await parts(reader, pool)
    return [setReservePause(configurator, pool.token_address, paused)]
  },

  async setApy(reader, pool, apy, admin) {
    const { token_address: token } = pool
    const { configurator, rates } = await parts(reader, pool)
    const [original] = await reader([originalStrategy(rates, token)])
    const strategy =
      apy === undefined
        ? [setStrategy(configurator, token, original)]
        : [setRate(rates, token, rateFor(apy)), setStrategy(configurator, token, rates)]
    return [...strategy, ...(await aaveAdmin.touch(reader, pool, admin))]
  },

  async payer(reader, pool) {
    const { aTokenAddress } = await reserve(reader, pool)
    return aTokenAddress
  },

  // The pool adopts a new rate at the next interaction, so the smallest amount that makes a share is supplied.
  async touch(reader, { token_address: token, market_address: market }, admin) {
    const [configuration, index] = await reader([
      getConfiguration(market, token),
      getReserveNormalizedIncome(market, token),
    ])
    const poke = supply(market, token, index / RAY + 1n, admin, 0)
    if (!(configuration & PAUSED)) return [poke]
    const { configurator } = await parts(reader, { market_address: market })
    return [setReservePause(configurator, token, false), poke, setReservePause(configurator, token, true)]
  },
}

/** Reads the addresses of a market's configurator and of its settable rates (zero if it has none). */
async function parts(
  reader: Reader,
  pool: Pick<PoolFacts, 'market_address'>,
): Promise<{ configurator: Address; rates: Address }> {
  const [provider] = await reader([addressesProvider(pool.market_address)])
  const [configurator, rates] = await reader([getPoolConfigurator(provider), getAddress(provider, RATES_ID)])
  return { configurator, rates }
}

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

/** Reads the data of one reserve (token) of an Aave pool. Rates are in rays. */
async function reserve(
  reader: Reader,
  pool: PoolFacts,
): Promise<{ aTokenAddress: Address; currentLiquidityRate: bigint }> {
  const [data] = await reader([getReserveData(pool.market_address, pool.token_address)])
  return data
}

const SECONDS_PER_YEAR = 365 * 24 * 60 * 60
/** Precision at which a JavaScript number is exact for yearly rates up to 900 %; the rate that compounds to 10,000 % is 462 %. */
const EXACT = 10n ** 15n

/** Yield of a yearly rate in rays, compounded every second as in Aave's own front end, as a fraction: 0.04 is 4 %. */
function compounded(rate: bigint): number {
  return Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(rate) / Number(RAY) / SECONDS_PER_YEAR))
}

/** Yearly rate in rays that yields `apy`: the inverse of {@link compounded}, for up to 10,000 %. */
function rateFor(apy: number): bigint {
  const rate = SECONDS_PER_YEAR * Math.expm1(Math.log1p(apy) / SECONDS_PER_YEAR)
  return BigInt(Math.round(rate * Number(EXACT))) * (RAY / EXACT)
}
