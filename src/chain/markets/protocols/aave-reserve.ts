import { parseAbi } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import type { Address } from '../../../domain/records.ts'
import { type Reader, view } from '../../reading/view.ts'

const POOL = parseAbi([
  'struct ReserveData { uint256 configuration; uint128 liquidityIndex; uint128 currentLiquidityRate; uint128 variableBorrowIndex; uint128 currentVariableBorrowRate; uint128 currentStableBorrowRate; uint40 lastUpdateTimestamp; uint16 id; address aTokenAddress; address stableDebtTokenAddress; address variableDebtTokenAddress; address interestRateStrategyAddress; uint128 accruedToTreasury; uint128 unbacked; uint128 isolationModeTotalDebt; }',
  'function getReserveData(address asset) view returns (ReserveData)',
])

const getReserveData = view(POOL, 'getReserveData')

/** What an Aave pool knows of one of its tokens. Rates in rays. */
export async function reserve(
  reader: Reader,
  pool: PoolFacts,
): Promise<{ aTokenAddress: Address; currentLiquidityRate: bigint }> {
  const [data] = await reader([getReserveData(pool.market_address, pool.token_address)])
  return data
}
