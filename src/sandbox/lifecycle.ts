/** Where a namespace is in its life. Only `ready` serves; from `stopping` there is no way back. */
export type LifecycleState = 'starting' | 'ready' | 'resetting' | 'failed' | 'stopping' | 'stopped'

/** Says where a namespace is in its life, and ends a generation of work when a reset or a stop makes it void. */
export class Lifecycle {
  #state: LifecycleState = 'starting'
  #obstacle: string | undefined = 'The chain and the fixtures are being prepared.'
  #generation = new AbortController()

  get state(): LifecycleState {
    return this.#state
  }

  /** Why it cannot serve, a sentence for clients; undefined when it can. */
  get obstacle(): string | undefined {
    return this.#obstacle
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
    this.#enter('ready', undefined)
  }

  fail(reason: string): void {
    this.#enter('failed', reason)
  }

  beginReset(): void {
    this.#enter('resetting', 'The sandbox is being reset.')
    this.#nextGeneration()
  }

  beginStop(): void {
    this.#enter('stopping', 'The sandbox is stopping.')
    this.#nextGeneration()
  }

  stopped(): void {
    this.#state = 'stopped'
  }

  #enter(state: LifecycleState, obstacle: string | undefined): void {
    if (this.ending) return // what began before goes on for a moment, and changes nothing any more
    this.#state = state
    this.#obstacle = obstacle
  }

  #nextGeneration(): void {
    this.#generation.abort()
    this.#generation = new AbortController()
  }
}
