import type { SandboxClock } from '../../domain/clock.ts'
import { CALL_FETCHES } from '../json-rpc/rpc-budget.ts'

/** A call of Anvil's to the chain that it forks. */
export interface RealCall {
  jsonrpc: '2.0'
  id: unknown
  method: string
  params?: unknown[]
}

/** Where real state is read from that a fork's checkpoint does not hold. */
export interface RealChain {
  /** Answers a call in JSON. Without what is needed, the chain does not work. */
  forward(call: RealCall, needed: boolean): Promise<string>
  /** How often reading failed so far. */
  readonly failures: number
  /** Why it fails at present. */
  readonly failure: string | undefined
}

/** What is asked of an account beside its balance. */
const REST = /^eth_get(Code|TransactionCount)$/
/** Milliseconds until a call that nobody waits for any more is refused another fetch, should it still be executing. */
const AGAIN = 250

/**
 * Says whether a node may fetch state that it does not hold, each piece of which takes a round trip. A call of somebody else
 * that reads thousands of accounts would keep blocks waiting, on a fork for minutes: nothing but a fetch that fails ends it
 * in the node. It need not be that call's: a transfer whose fetch fails is carried out again, as when an upstream fails.
 */
export class FetchBudget {
  readonly real: RealChain | undefined
  readonly #clock: SandboxClock
  #refused = 0
  /** Calls of others that execute. */
  #executing = 0
  #left = 0
  /** Somebody gave up a call that still executes. */
  #givenUp = false
  /** The address whose state was refused: the node asks again for parts of it, in other words. */
  #refusedAt: unknown

  constructor(clock: SandboxClock, real?: RealChain) {
    this.#clock = clock
    this.real = real
  }

  /** How often a fetch failed so far. */
  get failures(): number {
    return this.#refused + (this.real?.failures ?? 0)
  }

  get failure(): string | undefined {
    return this.real?.failure
  }

  /** Call when a call of somebody else begins, who waits until the patience ends. Returns what to call at its end. */
  begin(patience: Promise<unknown>): () => void {
    let over = false
    if (this.#executing++ === 0) this.#left = CALL_FETCHES
    void patience.then(async () => {
      for (; !over; await this.#clock.wallSleep(AGAIN)) this.#givenUp = true
    })
    return () => {
      over = true
      this.#executing--
      this.#givenUp = false
      this.#refusedAt = undefined
    }
  }

  /** @returns true if one more piece of an address's state may be fetched, by a method of JSON-RPC. */
  admit(method: string, address: unknown): boolean {
    if (this.#executing === 0) return true
    if (this.#refusedAt !== undefined && address === this.#refusedAt) return false
    if (!this.#givenUp && (REST.test(method) || this.#left-- > 0)) return true
    this.#givenUp = false
    this.#left = CALL_FETCHES
    this.#refusedAt = address
    this.#refused++
    return false
  }
}
