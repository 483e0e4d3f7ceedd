import { parseAbi } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import type { Address } from '../../../domain/records.ts'
import { type Reader, view } from '../../reading/view.ts'

const POOL = parseAbi([
  'struct ReserveData { uint256 configuration; uint128 liquidityIndex; uint128 currentLiquidityRate; uint128 variableBorrowIndex; uint128 currentVariableBorrowRate; uint128 currentStableBorrowRate; uint40 lastUpdateTimestamp; uint16 id; address aTokenAddress; address stableDebtTokenAddress; address variableDebtTokenAddress; address interestRateStrategyAddress; uint128 accruedToTreasury; uint128 unbacked; uint128 isolationModeTotalDebt; }',
  'function getReserveData(address asset) view returns (ReserveData)',
])

const getReserveData = view(POOL, 'getReserveData')

/** Reads the data of one reserve (token) of an Aave pool. Rates are in rays. */
export async function reserve(
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
export function compounded(rate: bigint): number {
  return Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(rate) / Number(RAY) / SECONDS_PER_YEAR))
}

/** Yearly rate in rays that yields `apy`: the inverse of {@link compounded}, for up to 10,000 %. */
export function rateFor(apy: number): bigint {
  const rate = SECONDS_PER_YEAR * Math.expm1(Math.log1p(apy) / SECONDS_PER_YEAR)
  return BigInt(Math.round(rate * Number(EXACT))) * (RAY / EXACT)
}

/** Aave's unit of indexes and rates: 27 decimals. */
export const RAY = 10n ** 27n

/** Aave's multiplication of rays; rounds half up. */
export function rayMul(a: bigint, b: bigint): bigint {
  return (a * b + RAY / 2n) / RAY
}

/** Aave's division of rays; rounds half up. */
export function rayDiv(a: bigint, b: bigint): bigint {
  return (a * RAY + b / 2n) / b
}

/** Rounds down. */
export function rayMulFloor(a: bigint, b: bigint): bigint {
  return (a * b) / RAY
}

/** Rounds down. */
export function rayDivFloor(a: bigint, b: bigint): bigint {
  return (a * RAY) / b
}

/** Rounds up. */
export function rayDivCeil(a: bigint, b: bigint): bigint {
  return (a * RAY + b - 1n) / b
}
