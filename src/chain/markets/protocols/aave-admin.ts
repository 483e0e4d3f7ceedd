import { parseAbi, stringToHex } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import type { Address } from '../../../domain/records.ts'
import { type Reader, view } from '../../reading/view.ts'
import { RAY, rateFor, reserve } from './aave-reserve.ts'
import { call, type MarketAdmin } from './protocol.ts'

const POOL = parseAbi([
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getConfiguration(address asset) view returns (uint256)',
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
])
const PROVIDER = parseAbi([
  'function getPoolConfigurator() view returns (address)',
  'function getAddress(bytes32 id) view returns (address)',
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
/** The bit of a reserve's configuration that is set while the reserve is paused. */
const PAUSED = 1n << 60n
/** Id of the settable rates at the embedded market's addresses provider. */
const RATES_ID = stringToHex('SETTABLE_RATES', { size: 32 })

const addressesProvider = view(POOL, 'ADDRESSES_PROVIDER')
const getConfiguration = view(POOL, 'getConfiguration')
const getReserveNormalizedIncome = view(POOL, 'getReserveNormalizedIncome')
const getPoolConfigurator = view(PROVIDER, 'getPoolConfigurator')
const getAddress = view(PROVIDER, 'getAddress')
const originalStrategy = view(SETTABLE_RATES, 'original')
const supply = call(POOL, 'supply', GAS)
const setReservePause = call(CONFIGURATOR, 'setReservePause', GAS)
const setStrategy = call(CONFIGURATOR, 'setReserveInterestRateStrategyAddress', GAS)
const setRate = call(SETTABLE_RATES, 'setRate', GAS)

/** Pauses a reserve by Aave's own method, and sets its rate by replacing the reserve's interest rate strategy. */
export const aaveAdmin: MarketAdmin = {
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
