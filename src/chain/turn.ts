import type { SandboxClock } from '../domain/clock.ts'
import type { Allowance } from './allowance.ts'
import type { BlockProducer } from './block-producer.ts'
import { inTime } from './in-time.ts'
import type { RpcError } from './rpc.ts'
import { CALL_TIME, overBudget } from './rpc-budget.ts'

/** What a turn works with. */
export interface TurnParts {
  producer: Pick<BlockProducer, 'exclusive'>
  clock: SandboxClock
}

/**
 * A change that somebody else asked for, who waits for its turn in the producer's lane, and for the node, no longer than a
 * call may take. Until it has begun, giving up means that it is never carried out.
 */
export class Turn {
  readonly #method: string
  readonly #allowance: Allowance
  readonly #parts: TurnParts
  #begun = false
  #over = false
  #steps = 0

  constructor(method: string, allowance: Allowance, parts: TurnParts) {
    this.#method = method
    this.#allowance = allowance
    this.#parts = parts
  }

  /** Runs a task with the chain to itself. Throws RpcError, and runs nothing, if nobody waits any more, or after a reset. */
  exclusive<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#parts.producer.exclusive(async () => {
      if (this.#over) throw this.#late()
      this.#allowance.requireSameEra(this.#method)
      this.#begun = true
      return task()
    })
  }

  /** To be told of a piece that is done: whoever waits sees it go on, and has the patience for the next one. */
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
      await this.#parts.clock.wallSleep(CALL_TIME)
    }
    this.#over = true
  }

  #late(): RpcError {
    const { reason } = this.#allowance.giveUp(this.#method)
    if (this.#begun) return overBudget(this.#method, `${reason}: it may be carried out still`)
    return overBudget(this.#method, `${reason}: its turn did not come, and it is not carried out`)
  }
}
