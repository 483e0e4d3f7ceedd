import type { SandboxClock } from '../../domain/clock.ts'
import { BodyTooLargeError } from '../../support/read-body.ts'
import { inTime } from '../../support/waiting.ts'
import { ANSWER_BYTES, BATCH_TIME, CALL_TIME, noAnswer, overBudget } from '../json-rpc/rpc-budget.ts'
import { RpcError } from '../json-rpc/rpc-client.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'

const WAS_RESET = -32000

/** The remaining budget of one request. */
export class Allowance {
  /** Bytes that the answer may still have. */
  bytes = ANSWER_BYTES
  /** True if a call was not answered in time. */
  gaveUp = false
  readonly #clock: SandboxClock
  readonly #until: number
  readonly #generation: AbortSignal

  /** @param generation aborted when the chain is reset; by default never */
  constructor(clock: SandboxClock, generation: AbortSignal = new AbortController().signal) {
    this.#generation = generation
    this.#clock = clock
    this.#until = clock.wallNow() + BATCH_TIME
  }

  /** Throws RpcError if the budget does not allow one more call. */
  check(method: string): void {
    this.requireSameGeneration(method)
    if (this.bytes <= 0) throw tooLong(method)
    if (this.gaveUp) throw overBudget(method, 'not begun: there was no answer in time to a call before it')
    if (this.#clock.wallNow() < this.#until) return
    throw overBudget(method, `not begun within ${BATCH_TIME / 1_000} s, the limit of a batch`)
  }

  /** Throws RpcError if the chain was reset since the request came: the request was meant for the chain before. */
  requireSameGeneration(method: string): void {
    if (this.#generation.aborted) throw new RpcError(method, WAS_RESET, 'not begun: the chain was reset meanwhile')
  }

  /** Makes the error of a call that was not answered in time. Later calls are refused, so that a silent node is not asked again. */
  giveUp(method: string): RpcError {
    this.gaveUp = true
    return noAnswer(method)
  }

  /** Subtracts the length of an answer's text and returns the text. Throws {@link BodyTooLargeError}. */
  spend(text: string): string {
    if (text.length > this.bytes) throw new BodyTooLargeError(this.bytes)
    this.bytes -= text.length
    return text
  }
}

/** Makes the error of a call whose answer is too long, alone or together with the answers before it. */
export function tooLong(method: string): RpcError {
  return overBudget(method, `the answer is longer than ${ANSWER_BYTES} bytes, the limit of a request`)
}

/**
 * A change that was requested from outside. The caller waits for its turn in the producer's queue and for the node together no
 * longer than a call may take. A change that is given up before it has begun is never carried out.
 */
export class Turn {
  readonly #method: string
  readonly #allowance: Allowance
  readonly #deps: TurnDeps
  #begun = false
  #over = false
  #steps = 0

  constructor(method: string, allowance: Allowance, deps: TurnDeps) {
    this.#method = method
    this.#allowance = allowance
    this.#deps = deps
  }

  /** Runs a task with the chain to itself. Throws RpcError without running it if nobody waits any more, or after a reset. */
  exclusive<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#deps.producer.exclusive(async () => {
      if (this.#over) throw this.#late()
      this.#allowance.requireSameGeneration(this.#method)
      this.#begun = true
      return task()
    })
  }

  /** Call when one step is done: the time limit starts again for the next one. */
  step(): void {
    this.#steps++
  }

  /** Awaits the result of the change. Throws RpcError when it takes too long; a change that has begun goes on in the node. */
  inTime<Result>(change: Promise<Result>): Promise<Result> {
    return inTime(change, this.#patience(), () => this.#late())
  }

  async #patience(): Promise<void> {
    for (let seen = -1; seen !== this.#steps; ) {
      seen = this.#steps
      await this.#deps.clock.wallSleep(CALL_TIME)
    }
    this.#over = true
  }

  #late(): RpcError {
    const { reason } = this.#allowance.giveUp(this.#method)
    if (this.#begun) return overBudget(this.#method, `${reason}: it may be carried out still`)
    return overBudget(this.#method, `${reason}: its turn did not come, and it is not carried out`)
  }
}

interface TurnDeps {
  producer: Pick<BlockProducer, 'exclusive'>
  clock: SandboxClock
}
