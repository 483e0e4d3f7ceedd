import { abortController } from '../support/waiting.ts'

/** Phase of a namespace's life. Only `ready` serves; nothing leads back from `stopping`. */
type LifecycleState = 'starting' | 'ready' | 'resetting' | 'failed' | 'stopping' | 'stopped'

/** Reasons why the other states do not serve, a sentence each for clients; a failure has a reason of its own. */
const OBSTACLES: Record<Exclude<LifecycleState, 'ready' | 'failed'>, string> = {
  starting: 'The chain and the fixtures are being prepared.',
  resetting: 'The sandbox is being reset.',
  stopping: 'The sandbox is stopping.',
  stopped: 'The sandbox is stopping.',
}

/** The phase of a namespace's life; ends a generation of work when a reset or a stop makes it void. */
export class Lifecycle {
  #state: LifecycleState = 'starting'
  #failure = ''
  #generation = abortController()

  /** Reason why it cannot serve, a sentence for clients; undefined if it can. */
  get obstacle(): string | undefined {
    if (this.#state === 'ready') return undefined
    return this.#state === 'failed' ? this.#failure : OBSTACLES[this.#state]
  }

  /** Aborted when a reset or a stop begins: work that began before must not affect the next generation. */
  get generation(): AbortSignal {
    return this.#generation.signal
  }

  /** @returns true if it is stopping or stopped */
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
    if (!this.ending) this.#state = state // work that began before goes on for a moment, but must not change the state
  }

  #nextGeneration(): void {
    this.#generation.abort()
    this.#generation = abortController()
  }
}
