import { parseAbi } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import { ChainUnavailableError } from '../../../domain/ports/chain.ts'
import { later, type Reader, view } from '../../reading/view.ts'
import {
  balanceOf,
  borrowerFrom,
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

const VAULT = parseAbi([
  'function asset() view returns (address)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function previewDeposit(uint256 assets) view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function previewWithdraw(uint256 assets) view returns (uint256)',
  'function totalAssets() view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
])

/** Methods that the embedded chain's vaults have beside the standard: contracts/YieldVault.sol */
const OWN_VAULT = parseAbi([
  'function initialRate() view returns (uint256)',
  'function rate() view returns (uint256)',
  'function setRate(uint256 rate)',
  'function setPaused(bool paused)',
])

/** Gas limit of each call: more than any needs, even if a vault spreads its assets over dozens of markets. */
const GAS = 5_000_000n
/** Gas limit of each call of an administrator: several times as much as either needs. */
const ADMIN_GAS = 200_000n
const YEAR = 365 * 24 * 60 * 60
/** Seconds over which a vault's share price is compared. */
const HORIZON = 24 * 60 * 60

const asset = view(VAULT, 'asset')
const convertToAssets = view(VAULT, 'convertToAssets')
const previewDeposit = view(VAULT, 'previewDeposit')
const previewRedeem = view(VAULT, 'previewRedeem')
const previewWithdraw = view(VAULT, 'previewWithdraw')
const totalAssets = view(VAULT, 'totalAssets')
const deposit = call(VAULT, 'deposit', GAS)
const withdraw = call(VAULT, 'withdraw', GAS)
const redeem = call(VAULT, 'redeem', GAS)
const initialRate = view(OWN_VAULT, 'initialRate')
const rate = view(OWN_VAULT, 'rate')
const setRate = call(OWN_VAULT, 'setRate', ADMIN_GAS)
const setPaused = call(OWN_VAULT, 'setPaused', ADMIN_GAS)

// The accounts are indexed.
const MOVED = ['amount', 'shares'] as const
const deposited = event('Deposit(address,address,uint256,uint256)', MOVED)
const withdrawn = event('Withdraw(address,address,address,uint256,uint256)', MOVED)

/** Precision of a rate that is passed to a vault: its rates have 18 decimals, but a JavaScript number is exact to 15 digits only. */
const EXACT = 10n ** 12n

/** Administers the embedded chain's vaults. */
const erc4626Admin: MarketAdmin = {
  setPaused: async (_reader, pool, paused) => [setPaused(pool.market_address, paused)],

  async setApy(reader, pool, apy) {
    if (apy !== undefined) return [setRate(pool.market_address, rateFor(apy))]
    const [first] = await reader([initialRate(pool.market_address)])
    return [setRate(pool.market_address, first)]
  },

  payer: async (_reader, pool) => pool.market_address,

  async touch(reader, pool) {
    const [current] = await reader([rate(pool.market_address)])
    return [setRate(pool.market_address, current)]
  },
}

function rateFor(apy: number): bigint {
  return BigInt(Math.round(apy * Number(EXACT))) * (10n ** 18n / EXACT)
}

/** Reads the yearly yield of a vault, as a fraction. */
type YieldReader = (reader: Reader, pool: PoolFacts) => Promise<number>

/**
 * An ERC-4626 vault. The standard has no method for the yield: see {@link projected}. Nor has it one for what the vault could pay out
 * to all together: its assets may lie in other markets.
 */
export const erc4626 = vaultWith(projected, async () => null)
/** A vault of the embedded chain, which reports its yield (contracts/YieldVault.sol). */
const tellingVault = vaultWith(told, payable)

function vaultWith(yearly: YieldReader, liquidity: Protocol['liquidity']): Protocol {
  return {
    liquidity,
    admin: erc4626Admin,

    async survey(reader, pool) {
      const [underlying] = await reader([asset(pool.market_address)])
      if (underlying.toLowerCase() !== pool.token_address.toLowerCase()) {
        throw new UnfitMarketError(`is a vault of ${underlying}, not of ${pool.token_symbol} (${pool.token_address})`)
      }
      return (await tells(reader, pool)) ? tellingVault : erc4626
    },

    valuation: (pool, shares) => ({
      read: previewRedeem(pool.market_address, shares),
      worth: (assets) => assets,
    }),

    // Compares the shares that the deposit gives with those that bring one minor unit.
    appraisal: ({ market_address: vault }, amount) => ({
      reads: [previewDeposit(vault, amount), previewWithdraw(vault, 1n)],
      worthless: ([given = 0n, needed = 0n]) => given < needed,
    }),

    async shares(reader, pool, wallet) {
      const [shares] = await reader([balanceOf(pool.market_address, wallet)])
      return shares
    },

    async market(reader, pool, priceOracle) {
      const [apy, [assets, price]] = await Promise.all([
        yearly(reader, pool),
        reader([totalAssets(pool.market_address), priceOf(priceOracle, pool.token_address)]),
      ])
      return { apy: fraction(apy), tvl_usd: usd(assets, pool.token_decimals, price), price_usd: exactUsd(price) }
    },

    deposit: (pool, wallet, amount) => deposit(pool.market_address, amount, wallet),

    // `redeem` takes the shares themselves, so that rounding leaves no remainder.
    withdraw: (pool, wallet, { amount, all }, shares) =>
      all ? redeem(pool.market_address, shares, wallet, wallet) : withdraw(pool.market_address, amount, wallet, wallet),

    movement(type, pool, logs) {
      return (type === 'deposit' ? deposited : withdrawn)(logs, pool.market_address)
    },
  }
}

/** @returns true if a vault has both `rate()` and `initialRate()`, as ours do: `rate()` alone may have another meaning elsewhere */
async function tells(reader: Reader, { market_address: vault }: PoolFacts): Promise<boolean> {
  try {
    await reader([rate(vault), initialRate(vault)])
    return true
  } catch (error) {
    if (error instanceof ChainUnavailableError) throw error
    return false
  }
}

/** Reads what a vault of the embedded chain can pay out: it mints the yield that it owes, and lends nothing unless a fault says so. */
async function payable(reader: Reader, { market_address: vault, token_address }: PoolFacts): Promise<bigint> {
  const [assets, lent] = await reader([totalAssets(vault), balanceOf(token_address, borrowerFrom(vault))])
  return assets > lent ? assets - lent : 0n
}

async function told(reader: Reader, { market_address: vault }: PoolFacts): Promise<number> {
  const [yearly] = await reader([rate(vault)])
  return Number(yearly) / 1e18
}

/**
 * Projects the yield: the growth of the share price within a day without any interaction, compounded over a year. Needs no history
 * of the chain. 0 for a vault whose price changes only when a report is made to it.
 */
async function projected(reader: Reader, { market_address: vault, token_decimals }: PoolFacts): Promise<number> {
  // So many shares that one unit of rounding is negligible, whatever the decimals of the shares.
  const shares = 10n ** BigInt(token_decimals + 24)
  const price = convertToAssets(vault, shares)
  const [now, then] = await reader([price, later(price, HORIZON)])
  if (now === 0n || then <= now) return 0
  return Math.expm1(Math.log1p(Number(then - now) / Number(now)) * (YEAR / HORIZON))
}
