import type { SandboxClock } from '../domain/clock.ts'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Logger } from '../support/logger.ts'
import { abortController, inTime } from '../support/waiting.ts'
import type { AnvilChain } from './anvil-chain.ts'

/** State of a chain. While it is `moving`, it can be neither used nor woken until `done` has settled. */
type State =
  | { is: 'resting' }
  | { is: 'waking'; done: Promise<AnvilChain> }
  | { is: 'awake'; chain: AnvilChain; watch: AbortController }
  | { is: 'moving'; done: Promise<unknown>; chain?: AnvilChain }
  | { is: 'stopped' }

/** Milliseconds that callers wait for a chain at rest: the time that a hundred chains may need if they are woken at once. */
const WAKE_TIMEOUT_MS = 120_000
/** Milliseconds until the next attempt to let a chain rest. */
const REST_AGAIN_MS = 1_000

const PAUSED = 'paused by a fault'
const RESET = 'it was reset'
const STOPPED = 'it was stopped'

/**
 * Wakes a chain when it is used, and lets it rest when it has not been used for a while. A pause, a reset or a stop affects calls
 * that wait for a resting chain as it affects those to an awake one.
 */
export class ChainLifecycle {
  readonly #deps: LifecycleDeps
  #state: State = { is: 'resting' }
  /** Aborted by a reset or a stop: callers that wait for the chain then get an error. */
  #generation = abortController()
  #paused = false
  #resetting = 0
  #users = 0
  /** Time of the last use in milliseconds of real time. */
  #lastUsed = 0

  constructor(deps: LifecycleDeps) {
    this.#deps = deps
  }

  /** The awake chain; undefined in other states. */
  get awake(): AnvilChain | undefined {
    return this.#state.is === 'awake' ? this.#state.chain : undefined
  }

  /** Reason why the chain cannot be used, if it is paused or stopped. It may not have a node that reports so. */
  get obstacle(): string | undefined {
    if (this.#state.is === 'stopped') return STOPPED
    return this.#paused ? PAUSED : undefined
  }

  /** @returns true if it is awake, not paused and not in use */
  get idle(): boolean {
    return this.awake !== undefined && this.#users === 0 && !this.#paused
  }

  /** @returns true during a reset */
  get resetting(): boolean {
    return this.#resetting > 0
  }

  /** Runs a task with the chain, which is woken if need be. Throws ChainUnavailableError, and errors of the task. */
  use<Result>(task: (chain: AnvilChain) => Promise<Result>): Promise<Result> {
    const { awake } = this
    if (!awake) return this.#whileUsed(() => this.#present().then(task))
    const doing = task(awake)
    if (this.#deps.idleMs !== undefined) this.#count(doing)
    return doing // the same promise: a caller that gets the same one as before knows that nothing has changed
  }

  #count(doing: Promise<unknown>): void {
    this.#users++
    const done = () => this.#unused()
    doing.then(done, done)
  }

  /** Wakes the chain if it rests. Throws errors of the start. */
  wake(): Promise<AnvilChain> {
    return this.#whileUsed(async () => {
      while (this.#state.is === 'moving') await this.#state.done.catch(() => {})
      const state = this.#state
      if (state.is === 'awake') return state.chain
      if (state.is === 'stopped') throw this.#unavailable(STOPPED)
      return state.is === 'resting' ? this.#beginWaking() : state.done
    })
  }

  /**
   * Ends the node if nothing would be lost, or no more than `forgetting` allows.
   * @returns true if the chain rests now
   */
  async rest(forgetting: boolean): Promise<boolean> {
    const state = this.#state
    if (state.is !== 'awake' || this.#users > 0 || this.#paused || this.#deps.idleMs === undefined) return false
    const { chain } = state
    const rested = chain.rest({ forgetting, wanted: () => this.#users > 0 || this.#state.is === 'stopped' })
    this.#state = { is: 'moving', done: rested, chain }
    const rests = await rested.catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'a chain could not rest')
      return false
    })
    if (this.obstacle === STOPPED) return rests
    this.#state = rests ? { is: 'resting' } : state
    if (rests) {
      state.watch.abort()
      this.#deps.rests()
    }
    // A pause that came meanwhile did not find an awake chain.
    else if (this.#paused) chain.pause()
    return rests
  }

  /**
   * Runs a task while the journal is complete and nothing changes the chain, awake or not. With `condensed`, it is woken, and the journal
   * is a checkpoint alone. Throws ChainUnavailableError.
   */
  async still<Result>(task: () => Promise<Result>, condensed: boolean): Promise<Result> {
    return this.#whileUsed(async () => {
      if (!condensed && this.#state.is === 'resting' && !this.#paused && (await this.#deps.begun())) {
        if (this.#state.is === 'resting') return this.#move(task)
      }
      return (await this.#present()).still(task, condensed)
    })
  }

  /** Resets the chain. If it rests, `forget` resets the journal before the chain is woken. Throws errors of the start. */
  async reset(forget: () => Promise<void>): Promise<void> {
    this.#nextGeneration()
    this.#paused = false
    this.#resetting++
    try {
      await this.#whileUsed(async () => {
        while (this.#state.is === 'moving') await this.#state.done.catch(() => {})
        if (this.#state.is === 'resting') await this.#move(forget)
        await (await this.wake()).reset()
      })
    } finally {
      this.#resetting--
    }
  }

  /** Pauses the chain: all calls fail at once. Does nothing during a reset. */
  pause(): void {
    if (this.#resetting > 0) return
    this.#paused = true
    this.awake?.pause()
  }

  /** @returns true if it was paused */
  resume(): boolean {
    const paused = this.#paused
    this.#paused = false
    this.awake?.resume()
    return paused
  }

  /** Stops the chain, awake or not. May be called again. */
  async stop(): Promise<void> {
    const state = this.#state
    this.#state = { is: 'stopped' }
    this.#nextGeneration()
    if (state.is === 'awake') {
      state.watch.abort()
      await state.chain.stop()
    } else if (state.is === 'waking') {
      const chain = await state.done.catch(() => undefined)
      await chain?.stop()
    } else if (state.is === 'moving') {
      await state.done.catch(() => {})
      await state.chain?.stop()
    }
  }

  async #whileUsed<Result>(task: () => Promise<Result>): Promise<Result> {
    this.#users++
    try {
      return await task()
    } finally {
      this.#unused()
    }
  }

  #unused(): void {
    this.#users--
    this.#lastUsed = this.#deps.clock.wallNow()
    if (this.#users === 0) this.#deps.unused()
  }

  /** Returns the awake chain, woken if need be. Throws ChainUnavailableError. */
  async #present(): Promise<AnvilChain> {
    const { signal } = this.#generation
    let patience: Promise<void> | undefined
    for (;;) {
      const state = this.#state
      if (state.is === 'stopped') throw this.#unavailable(STOPPED)
      if (signal.aborted) throw this.#unavailable(RESET)
      if (state.is === 'awake') return state.chain
      if (this.#paused) throw this.#unavailable(PAUSED)
      patience ??= this.#deps.clock.wallSleep(this.#deps.wakeTimeout ?? WAKE_TIMEOUT_MS)
      const late = () => this.#unavailable('it is being started, and does not answer yet')
      if (state.is === 'moving')
        await inTime(
          state.done.catch(() => {}),
          patience,
          late,
        )
      else await inTime(this.#wakingForUse(state), patience, late)
    }
  }

  /** Waits for the chain to wake. Throws ChainUnavailableError with the reason if it cannot be woken. */
  async #wakingForUse(state: Extract<State, { is: 'resting' | 'waking' }>): Promise<void> {
    try {
      await (state.is === 'resting' ? this.#beginWaking() : state.done)
    } catch (error) {
      if (error instanceof ChainUnavailableError) throw error
      throw this.#unavailable(error instanceof Error ? error.message : String(error), error)
    }
  }

  #beginWaking(): Promise<AnvilChain> {
    const done = this.#deps.start()
    this.#state = { is: 'waking', done }
    done.then(
      (chain) => this.#woken(chain),
      (error: unknown) => {
        this.#deps.log.debug({ err: error }, 'a chain could not be woken')
        if (this.#state.is === 'waking') this.#state = { is: 'resting' }
      },
    )
    return done
  }

  #woken(chain: AnvilChain): void {
    if (this.#state.is !== 'waking') return // it is being stopped
    const watch = new AbortController()
    this.#state = { is: 'awake', chain, watch }
    this.#lastUsed = this.#deps.clock.wallNow()
    if (this.#paused) chain.pause()
    if (this.#deps.idleMs !== undefined) void this.#restWhenIdle(this.#deps.idleMs, watch.signal)
  }

  async #restWhenIdle(idleMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    for (let wait = idleMs; ; ) {
      await clock.wallSleep(wait, signal)
      if (signal.aborted) return
      wait = this.#users > 0 ? idleMs : this.#lastUsed + idleMs - clock.wallNow()
      if (wait <= 0 && !(await this.rest(true))) wait = REST_AGAIN_MS
    }
  }

  /** Runs a task with the journal of a resting chain, which cannot be woken meanwhile. */
  async #move<Result>(task: () => Promise<Result>): Promise<Result> {
    const done = task()
    this.#state = { is: 'moving', done }
    try {
      return await done
    } finally {
      if (this.#state.is === 'moving') this.#state = { is: 'resting' }
    }
  }

  #nextGeneration(): void {
    this.#generation.abort()
    this.#generation = abortController()
  }

  #unavailable(reason: string, cause?: unknown): ChainUnavailableError {
    return new ChainUnavailableError(this.#deps.chainId, reason, { cause })
  }
}

export interface LifecycleDeps {
  chainId: string
  clock: SandboxClock
  log: Logger
  /** Milliseconds without use after which the chain rests; undefined: never. */
  idleMs: number | undefined
  /** Milliseconds that callers wait until it is awake; default 2 min. */
  wakeTimeout?: number | undefined
  /** Starts the chain at the end of its journal. */
  start(): Promise<AnvilChain>
  /** @returns true if its journal is not empty */
  begun(): Promise<boolean>
  /** Called when the last use has ended. */
  unused(): void
  /** Called when the chain has come to rest. */
  rests(): void
}
