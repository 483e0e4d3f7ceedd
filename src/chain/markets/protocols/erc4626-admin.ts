import { parseAbi } from 'viem/utils'
import { view } from '../../reading/view.ts'
import { call, type MarketAdmin } from './protocol.ts'

/** contracts/YieldVault.sol */
const VAULT = parseAbi([
  'function initialRate() view returns (uint256)',
  'function rate() view returns (uint256)',
  'function setRate(uint256 rate)',
  'function setPaused(bool paused)',
])

/** Gas limit of each call: several times as much as either needs. */
const GAS = 200_000n
/** Precision of a rate that is passed to a vault: its rates have 18 decimals, but a JavaScript number is exact to 15 digits only. */
const EXACT = 10n ** 12n

const initialRate = view(VAULT, 'initialRate')
const currentRate = view(VAULT, 'rate')
const setRate = call(VAULT, 'setRate', GAS)
const setPaused = call(VAULT, 'setPaused', GAS)

/** Administers the embedded chain's vaults. */
export const erc4626Admin: MarketAdmin = {
  setPaused: async (_reader, pool, paused) => [setPaused(pool.market_address, paused)],

  async setApy(reader, pool, apy) {
    if (apy !== undefined) return [setRate(pool.market_address, rateFor(apy))]
    const [rate] = await reader([initialRate(pool.market_address)])
    return [setRate(pool.market_address, rate)]
  },

  payer: async (_reader, pool) => pool.market_address,

  async touch(reader, pool) {
    const [rate] = await reader([currentRate(pool.market_address)])
    return [setRate(pool.market_address, rate)]
  },
}

function rateFor(apy: number): bigint {
  return BigInt(Math.round(apy * Number(EXACT))) * (10n ** 18n / EXACT)
}
