import { abortController } from '../support/waiting.ts'

/** Where a namespace is in its life. Only `ready` serves; from `stopping` there is no way back. */
type LifecycleState = 'starting' | 'ready' | 'resetting' | 'failed' | 'stopping' | 'stopped'

/** Why each of the other states does not serve, a sentence for clients; a failure has its own. */
const OBSTACLES: Record<Exclude<LifecycleState, 'ready' | 'failed'>, string> = {
  starting: 'The chain and the fixtures are being prepared.',
  resetting: 'The sandbox is being reset.',
  stopping: 'The sandbox is stopping.',
  stopped: 'The sandbox is stopping.',
}

/** Says where a namespace is in its life, and ends a generation of work when a reset or a stop makes it void. */
export class Lifecycle {
  #state: LifecycleState = 'starting'
  #failure = ''
  #generation = abortController()

  /** Why it cannot serve, a sentence for clients; undefined when it can. */
  get obstacle(): string | undefined {
    if (this.#state === 'ready') return undefined
    return this.#state === 'failed' ? this.#failure : OBSTACLES[this.#state]
  }

  /** Aborted when a reset or a stop begins: what was let in before must not act on what comes after. */
  get generation(): AbortSignal {
    return this.#generation.signal
  }

  /** @returns true if it is being stopped, or was */
  get ending(): boolean {
    return this.#state === 'stopping' || this.#state === 'stopped'
  }

  ready(): void {
    this.#enter('ready')
  }

  fail(reason: string): void {
    this.#failure = reason
    this.#enter('failed')
  }

  beginReset(): void {
    this.#enter('resetting')
    this.#nextGeneration()
  }

  beginStop(): void {
    this.#enter('stopping')
    this.#nextGeneration()
  }

  stopped(): void {
    this.#state = 'stopped'
  }

  #enter(state: LifecycleState): void {
    if (!this.ending) this.#state = state // what began before goes on for a moment, and changes nothing any more
  }

  #nextGeneration(): void {
    this.#generation.abort()
    this.#generation = abortController()
  }
}
