import type { Abi, ContractFunctionName } from 'viem'
import { hexToBigInt, parseAbi, size, sliceHex, toEventSelector } from 'viem/utils'
import type { PoolFacts } from '../../../domain/chain-setup.ts'
import type { MarketFigures, TransferDecision } from '../../../domain/ports/chain.ts'
import type { Address, Hex, Pool, TransferType } from '../../../domain/records.ts'
import { SenselessAnswerError } from '../../json-rpc/rpc-client.ts'
import { type Arguments, functionEncoder, type Read, type Reader, view } from '../../reading/view.ts'

/** An event a transaction left behind. */
export interface Log {
  address: string
  topics: [] | [Hex, ...Hex[]]
  data: Hex
}

/** A contract call as a transaction carries it. */
export interface ContractCall {
  to: Address
  data: Hex
  gas: bigint
}

/** What a transfer did by the word of its events. */
export interface Movement {
  /** Underlying, in minor units. */
  amount: bigint
  shares: bigint
}

/** A view whose answer says what a position is worth. Positions with the same view share one call. */
export interface Valuation {
  read: Read<bigint>
  /** The worth in minor units, given the view's answer. */
  worth(answer: bigint): bigint
}

/** Views whose answers say whether a deposit is worth anything. */
export interface Appraisal {
  reads: readonly Read<bigint>[]
  worthless(answers: readonly bigint[]): boolean
}

/** What the owner of a protocol's markets can do; one file each. The calls are signed by one account, in order. */
export interface MarketAdmin {
  /** Stops deposits into a pool and withdrawals from it, or lets them through again. */
  setPaused(read: Reader, pool: PoolFacts, paused: boolean): Promise<ContractCall[]>
  /** Makes a pool earn so much, a fraction of one a year; undefined gives back what the market would pay. */
  setApy(read: Reader, pool: PoolFacts, apy: number | undefined, admin: Address): Promise<ContractCall[]>
  /** The account whose tokens pay withdrawals from a pool: without them it is illiquid. */
  payer(read: Reader, pool: PoolFacts): Promise<Address>
  /** Has a market book what has accrued, and take over a rate that follows from what it holds now. */
  touch(read: Reader, pool: PoolFacts, admin: Address): Promise<ContractCall[]>
}

/** A market is not what the fixture says it is; the message completes "the market … ". */
export class UnfitMarketError extends Error {
  override readonly name = 'UnfitMarketError'
}

/** How a lending protocol is spoken to; one file each. `shares` are in the protocol's own unit (see `Portfolio.shares`). */
export interface Protocol {
  readonly admin: MarketAdmin
  /**
   * Looks at a market once, before it is used, and returns how its version is spoken to. Throws {@link UnfitMarketError}
   * when it is no such market, or not of that token.
   */
  survey(read: Reader, pool: PoolFacts): Promise<Protocol>
  /** What `shares` would bring if all of them were withdrawn. */
  valuation(pool: Pool, shares: bigint): Valuation
  /** Tells if the shares for a deposit of `amount` would bring a minor unit if they were withdrawn at once. */
  appraisal(pool: Pool, amount: bigint): Appraisal
  /** The wallet's whole holding. */
  shares(read: Reader, pool: Pool, wallet: Address): Promise<bigint>
  market(read: Reader, pool: PoolFacts, priceOracle: Address): Promise<MarketFigures>
  deposit(pool: Pool, wallet: Address, amount: bigint): ContractCall
  /** With `all`, burns exactly `shares` in a block of the timestamp the decision's facts were read for. */
  withdraw(pool: Pool, wallet: Address, decision: TransferDecision, shares: bigint): ContractCall
  /** What a mined transfer moved. Throws when the receipt holds no such event. */
  movement(type: TransferType, pool: Pool, logs: readonly Log[]): Movement
}

/** A typed state-changing function of any contract of an interface, with a fixed gas limit. */
export function call<const abi extends Abi, name extends ContractFunctionName<abi, 'nonpayable'>>(
  abi: abi,
  name: name,
  gas: bigint,
): (to: Address, ...args: Arguments<abi, 'nonpayable', name>) => ContractCall {
  const encode = functionEncoder(abi, name)
  return (to, ...args) => ({ to, gas, data: encode(args) })
}

/** Bytes. */
const WORD = 32

/**
 * A reader of an event's arguments that are not indexed, by the names given to them, in the first such event a contract
 * emitted. `signature` names the types of all arguments; those that are not indexed must be a word each, and are read as
 * numbers. The reader throws when there is no such event, or it has not so many.
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

/** USD price of a whole token with 8 decimals, by Aave's oracle: `priceOf(oracle, token)`. */
export const priceOf = view(PRICE_ORACLE, 'getAssetPrice')

/** USD with two decimals. `amount` in minor units of a token with so many decimals; `price` as {@link priceOf} gives it. */
export function usd(amount: bigint, tokenDecimals: number, price: bigint): string {
  return decimal((amount * price * 100n) / 10n ** BigInt(tokenDecimals + 8), 2)
}

/** USD for a whole token, with two decimals or as many as it takes: `"1.00"`, `"0.99987"`. `price` as {@link priceOf} gives it. */
export function exactUsd(price: bigint): string {
  return decimal(price, 8).replace(/0{1,6}$/, '')
}

/** A fraction of one with six decimals: `0.0403214` is written `"0.040321"`. */
export function fraction(value: number): string {
  return value.toFixed(6)
}

function decimal(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
