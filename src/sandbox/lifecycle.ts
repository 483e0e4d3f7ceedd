import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { NotKeptError } from '../domain/ports/journal.ts'
import { retryChainOutage } from '../domain/retry-chain-outage.ts'
import { LatestRun } from '../support/serial-queue.ts'
import { abortController } from '../support/waiting.ts'
import type { Persistence } from './persistence.ts'

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
  readonly #end = abortController()

  /** Reason why it cannot serve, a sentence for clients; undefined if it can. */
  get obstacle(): string | undefined {
    if (this.#state === 'ready') return undefined
    return this.#state === 'failed' ? this.#failure : OBSTACLES[this.#state]
  }

  /** Aborted when a reset or a stop begins: work that began before must not affect the next generation. */
  get generation(): AbortSignal {
    return this.#generation.signal
  }

  /** Aborted when a stop begins. */
  get end(): AbortSignal {
    return this.#end.signal
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
    this.#end.abort()
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

/** Milliseconds of real time before a reset that could not be finished is tried again. */
const AGAIN_MS = 1_000

/**
 * Resets of a namespace. The intention is saved first: if that fails, the reset is refused and nothing has happened. From then on it is
 * carried out for certain: it is repeated while the disk or a chain prevents it, and at the latest by the next start.
 */
export class Resets {
  readonly #deps: ResetsDeps
  readonly #runs = new LatestRun(() => this.#run())
  /** True if a reset has begun and could not be finished yet. */
  #unfinished = false
  #waiting = false

  constructor(deps: ResetsDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when a reset is done that began after this call; one run serves all callers that wait meanwhile. A run that began earlier
   * does not count, since it does not undo later changes. Throws NotKeptError if no reset has begun, otherwise the error that prevents
   * its end for now.
   */
  ask(): Promise<void> {
    return this.#runs.ask()
  }

  async #run(): Promise<void> {
    const { persistence, lifecycle, clock, perform } = this.#deps
    if (!this.#unfinished) await persistence?.beginSeeding()
    this.#unfinished = true
    try {
      await retryChainOutage(perform, { clock, ended: () => lifecycle.ending })
      this.#unfinished = false
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      lifecycle.fail(`The last reset failed: ${reason} It is tried again until it is done.`)
      void this.#tryAgain()
      if (!(error instanceof NotKeptError)) throw error
      const detail = `The reset has begun and is not done yet: ${reason} It is tried again until it is done, at the next start at the latest.`
      throw new Problem('service_unavailable', { detail, headers: { 'retry-after': '5' } }, { cause: error })
    }
  }

  async #tryAgain(): Promise<void> {
    const { lifecycle, clock } = this.#deps
    if (this.#waiting) return
    this.#waiting = true
    await clock.wallSleep(AGAIN_MS)
    this.#waiting = false
    if (this.#unfinished && !lifecycle.ending) await this.ask().catch(() => undefined) // the reset reports the reason, and is tried again
  }
}

interface ResetsDeps {
  persistence: Persistence | undefined
  lifecycle: Lifecycle
  clock: SandboxClock
  /** Takes everything back to the fixtures; begins anew at each call. */
  perform(): Promise<void>
}
