import type { Abi, ContractFunctionName } from 'viem'
import { hexToBigInt, keccak256, parseAbi, size, slice, sliceHex, toEventSelector } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import type { MarketFigures, TransferDecision } from '../../../domain/ports/chain.ts'
import type { Address, Hex, Pool, TransferType } from '../../../domain/records.ts'
import { SenselessAnswerError } from '../../json-rpc/rpc-client.ts'
import { type Arguments, functionEncoder, type Read, type Reader, view } from '../../reading/view.ts'

/** An event that a transaction emitted. */
export interface Log {
  address: string
  topics: [] | [Hex, ...Hex[]]
  data: Hex
}

/** A contract call, ready for a transaction. */
export interface ContractCall {
  to: Address
  data: Hex
  gas: bigint
}

/** Amount and shares that a transfer moved, according to its events. */
export interface Movement {
  /** Underlying tokens in minor units. */
  amount: bigint
  shares: bigint
}

/** A view that determines the worth of a position. Positions with the same view share one call. */
export interface Valuation {
  read: Read<bigint>
  /** Calculates the worth in minor units from the view's answer. */
  worth(answer: bigint): bigint
}

/** Views that determine if a deposit is worthless. */
export interface Appraisal {
  reads: readonly Read<bigint>[]
  worthless(answers: readonly bigint[]): boolean
}

/** Actions of the owner of a protocol's markets; one file for each protocol. The calls are signed by one account, in order. */
export interface MarketAdmin {
  /** Stops deposits into a pool and withdrawals from it, or lets them through again. */
  setPaused(read: Reader, pool: PoolFacts, paused: boolean): Promise<ContractCall[]>
  /** Sets the yearly yield of a pool, as a fraction; undefined restores the market's own yield. */
  setApy(read: Reader, pool: PoolFacts, apy: number | undefined, admin: Address): Promise<ContractCall[]>
  /** Returns the account whose tokens pay withdrawals from a pool: without them the pool is illiquid. */
  payer(read: Reader, pool: PoolFacts): Promise<Address>
  /** Makes a market book accrued interest, and adopt the rate that follows from its present holdings. */
  touch(read: Reader, pool: PoolFacts, admin: Address): Promise<ContractCall[]>
}

/** Derives the account that holds the tokens of an illiquid market: one for each market, without a key. */
export function borrowerFrom(payer: Address): Address {
  return slice(keccak256(payer), 12)
}

/** A market is not as the fixture describes it; the message completes "the market … ". */
export class UnfitMarketError extends Error {
  override readonly name = 'UnfitMarketError'
}

/** Access to a lending protocol; one file for each. `shares` are in the protocol's own unit (see `Portfolio.shares`). */
export interface Protocol {
  readonly admin: MarketAdmin
  /**
   * Checks a market once, before it is used, and returns the protocol for its version. Throws {@link UnfitMarketError}
   * if the market does not have the pool's token; an error of another kind if the address is not such a market.
   */
  survey(read: Reader, pool: PoolFacts): Promise<Protocol>
  /** Values `shares`: the amount that withdrawing all of them would bring. */
  valuation(pool: Pool, shares: bigint): Valuation
  /** Appraises a deposit of `amount`: it is worthless if its shares, withdrawn at once, would not bring one minor unit. */
  appraisal(pool: Pool, amount: bigint): Appraisal
  /** Reads the wallet's whole holding in shares. */
  shares(read: Reader, pool: Pool, wallet: Address): Promise<bigint>
  market(read: Reader, pool: PoolFacts, priceOracle: Address): Promise<MarketFigures>
  /** Reads the underlying tokens that withdrawals can take out now, in minor units; null if the protocol does not show them. */
  liquidity(read: Reader, pool: PoolFacts): Promise<bigint | null>
  deposit(pool: Pool, wallet: Address, amount: bigint): ContractCall
  /** With `all`, burns exactly `shares` in a block of the timestamp for which the decision's facts were read. */
  withdraw(pool: Pool, wallet: Address, decision: TransferDecision, shares: bigint): ContractCall
  /** Reads the movement of a mined transfer from its logs. Throws SenselessAnswerError if they do not have the event. */
  movement(type: TransferType, pool: Pool, logs: readonly Log[]): Movement
}

/** Makes a typed state-changing function, with a fixed gas limit, that can be called on any contract with the interface. */
export function call<const abi extends Abi, name extends ContractFunctionName<abi, 'nonpayable'>>(
  abi: abi,
  name: name,
  gas: bigint,
): (to: Address, ...args: Arguments<abi, 'nonpayable', name>) => ContractCall {
  const encode = functionEncoder(abi, name)
  return (to, ...args) => ({ to, gas, data: encode(args) })
}

/** Bytes of an EVM word. */
const WORD = 32

/**
 * Makes a reader of the unindexed arguments of the first such event that a contract emitted. `signature` has the types of all
 * arguments; `names` are those of the unindexed ones, each of which must be one word and is read as a number. The reader throws
 * SenselessAnswerError if there is no such event, or it has another number of unindexed arguments.
 */
export function event<const name extends string>(
  signature: string,
  names: readonly name[],
): (logs: readonly Log[], emitter: Address) => Record<name, bigint> {
  const selector = toEventSelector(signature)
  return (logs, emitter) => {
    const log = logs.find(({ address, topics }) => topics[0] === selector && sameAddress(address, emitter))
    if (!log || size(log.data) !== names.length * WORD) {
      throw new SenselessAnswerError(`the transaction emitted no ${signature} of ${emitter}`)
    }
    const words = names.map((name, i) => [name, hexToBigInt(sliceHex(log.data, i * WORD, (i + 1) * WORD))])
    return Object.fromEntries(words) as Record<name, bigint>
  }
}

function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

const PRICE_ORACLE = parseAbi(['function getAssetPrice(address asset) view returns (uint256)'])

/** Price of one whole token in USD with 8 decimals, from Aave's oracle: `priceOf(oracle, token)`. */
export const priceOf = view(PRICE_ORACLE, 'getAssetPrice')

/** Formats an amount as USD with two decimals. `amount` is in minor units of the token, `price` as {@link priceOf} reads it. */
export function usd(amount: bigint, tokenDecimals: number, price: bigint): string {
  return decimal((amount * price * 100n) / 10n ** BigInt(tokenDecimals + 8), 2)
}

/** Formats a price as {@link priceOf} reads it, in USD with at least two decimals: `"1.00"`, `"0.99987"`. */
export function exactUsd(price: bigint): string {
  return decimal(price, 8).replace(/0{1,6}$/, '')
}

/** Formats a fraction with six decimals: `0.0403214` becomes `"0.040321"`. */
export function fraction(value: number): string {
  return value.toFixed(6)
}

function decimal(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

const ERC20 = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function decimals() view returns (uint8)',
])

/** An account's token balance in minor units: `balanceOf(token, owner)`. */
export const balanceOf = view(ERC20, 'balanceOf')

/** Number of decimals of a token: `decimalsOf(token)`. */
export const decimalsOf = view(ERC20, 'decimals')
