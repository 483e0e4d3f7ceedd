import type { SandboxClock } from '../../domain/clock.ts'
import { CALL_FETCHES } from '../json-rpc/rpc-budget.ts'

/** A call that Anvil makes to the chain that it forks. */
export interface RealCall {
  jsonrpc: '2.0'
  id: unknown
  method: string
  params?: unknown[]
}

/** Source of the real state that a fork's checkpoint does not hold. */
export interface RealChain {
  /** Answers a call with JSON. `needed`: the fork cannot work without a result, so an error in the answer counts as a failure. */
  forward(call: RealCall, needed: boolean): Promise<string>
  /** Number of reads that have failed so far. */
  readonly failures: number
  /** Reason why reads fail at present; undefined while they succeed. */
  readonly failure: string | undefined
}

/** Queries about an account other than its balance: Anvil makes all three for a new account, and only the balance counts. */
const REST = /^eth_get(Code|TransactionCount)$/
/** Milliseconds between two refused fetches of a call that nobody waits for any more but that still executes. */
const AGAIN = 250

/**
 * Decides if a node may fetch state that it does not hold, each piece of which takes a round trip. A call from outside
 * that reads thousands of accounts would keep blocks waiting, on a fork for minutes: only a failed fetch ends such a call
 * in the node. The failed fetch may belong to a transfer instead, which is then repeated, as when an upstream fails.
 */
export class FetchBudget {
  readonly real: RealChain | undefined
  readonly #clock: SandboxClock
  #refused = 0
  /** Number of calls from outside that execute. */
  #executing = 0
  #left = 0
  /** True if a caller gave up a call that still executes. */
  #givenUp = false
  /** The address whose state was refused: the node asks again for parts of that state by other methods. */
  #refusedAt: unknown

  constructor(clock: SandboxClock, real?: RealChain) {
    this.#clock = clock
    this.real = real
  }

  /** Number of fetches that were refused or have failed so far. */
  get failures(): number {
    return this.#refused + (this.real?.failures ?? 0)
  }

  get failure(): string | undefined {
    return this.real?.failure
  }

  /**
   * Call when a call from outside begins.
   * @param patience resolves when the caller no longer waits
   * @returns a function to call when the call has ended
   */
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

  /** @returns true if the node may fetch one more piece of an address's state, by this JSON-RPC method */
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
