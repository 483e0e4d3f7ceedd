import type { SandboxClock } from '../../domain/clock.ts'
import { inTime } from '../../support/waiting.ts'
import { CALL_TIME, overBudget } from '../json-rpc/rpc-budget.ts'
import type { RpcError } from '../json-rpc/rpc-client.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'
import type { Allowance } from './allowance.ts'

/**
 * A change that somebody else asked for, who waits for its turn in the producer's queue, and for the node, no longer than a
 * call may take. Until it has begun, giving up means that it is never carried out.
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

  /** Runs a task with the chain to itself. Throws RpcError, and runs nothing, if nobody waits any more, or after a reset. */
  exclusive<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#deps.producer.exclusive(async () => {
      if (this.#over) throw this.#late()
      this.#allowance.requireSameGeneration(this.#method)
      this.#begun = true
      return task()
    })
  }

  /** Call when a piece is done: whoever waits sees it go on, and has the patience for the next one. */
  step(): void {
    this.#steps++
  }

  /** What the change comes to. Throws RpcError when it takes too long: begun, it goes on, since the node does. */
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

export interface TurnDeps {
  producer: Pick<BlockProducer, 'exclusive'>
  clock: SandboxClock
}
