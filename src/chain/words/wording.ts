import type { AbiParameter } from 'viem'
import type { Hex } from '../../domain/records.ts'
import type { Names } from './names.ts'

/** Arguments that are amounts of a token. */
const AMOUNTS: readonly string[] = ['amount', 'assets', 'value', 'yield', 'totalAssets', 'balanceIncrease']
/** Most characters of an argument that is shown as it is. */
const LONGEST = 66

/** Decoded arguments of a call or an event. */
export interface Decoded {
  /** The contract that is called, or that emitted the event. */
  contract: string
  inputs: readonly AbiParameter[]
  /** By name. */
  values: Readonly<Record<string, unknown>>
}

/** What a call or an event happens in. */
export interface WordingContext {
  names: Names
  sender: string
  /** What a withdrawal paid out by its events, in words. */
  paidOut?: string | undefined
  /** Puts a call that another one carries into words. */
  inner(target: string, data: Hex): string
}

/** Puts the arguments of a call or an event into words. */
export class Wording {
  readonly #decoded: Decoded
  readonly #context: WordingContext

  constructor(decoded: Decoded, context: WordingContext) {
    this.#decoded = decoded
    this.#context = context
  }

  /** Name of the contract. */
  get here(): string {
    return this.#context.names.of(this.#decoded.contract)
  }

  /** Name of the sender of the transaction. */
  get sender(): string {
    return this.#context.names.of(this.#context.sender)
  }

  get paidOut(): string | undefined {
    return this.#context.paidOut
  }

  /** An argument that is an address. */
  name(argument: string): string {
    return this.#context.names.of(String(this.#value(argument)))
  }

  amount(argument: string): string {
    const { names } = this.#context
    const { contract, values } = this.#decoded
    const named = values.asset ?? values.reserve
    const address = typeof named === 'string' ? named : contract
    const token = names.token(address) ?? (named === undefined ? names.tokenOf(contract) : undefined)
    return names.amount(BigInt(this.#value(argument) as bigint), token, address)
  }

  text(argument: string): string {
    return String(this.#value(argument))
  }

  is(argument: string): boolean {
    return this.#value(argument) === true
  }

  /** A rate with so many decimals: `4.12 %`. */
  percent(argument: string, decimals: number): string {
    const hundredths = (BigInt(this.#value(argument) as bigint) * 10_000n) / 10n ** BigInt(decimals)
    return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')} %`
  }

  inner(target: string, data: string): string {
    return this.#context.inner(this.text(target), this.#value(data) as Hex)
  }

  /** Every argument: `asset: USDC, amount: 1,000.00 USDC`. */
  get all(): string {
    return this.#decoded.inputs.map(({ name = '', type }) => `${name}: ${this.#shown(name, type)}`).join(', ')
  }

  #shown(name: string, type: string): string {
    if (type === 'address') return this.name(name)
    if (type === 'uint256' && AMOUNTS.includes(name)) return this.amount(name)
    const text = this.text(name)
    return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  }

  #value(argument: string): unknown {
    return this.#decoded.values[argument]
  }
}
