import type { LiveExchange } from './live-exchange.ts'

/**
 * The order in which the exchanges of a log end, which is not the order in which they begin. It goes on after a reset, so that whoever waits
 * for the next one waits on.
 */
export class Ends {
  /** Distinguishes its places from those of other logs, as of an earlier process. */
  readonly #life: string
  #count = 0
  #stopped = false
  readonly #waiting = new Set<() => void>()

  constructor(life: string) {
    this.#life = life
  }

  /** Number of exchanges that have ended. */
  get count(): number {
    return this.#count
  }

  /** True when none will end any more. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** Gives an exchange that has ended its number in this order; only the first end counts. */
  take(live: LiveExchange): void {
    if (live.endedAs !== 0) return
    this.#count++
    live.endedAs = this.#count
    if (this.#waiting.size > 0) this.#wake()
  }

  /** Ends every waiting, for good. */
  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  /** The place after so many ends, as a text. */
  placeOf(ends: number): string {
    return `${this.#life}.${ends}`
  }

  /** The number of ends before a place: 0 if it is one of another log, undefined if the text is no place. */
  endsBefore(place: string): number | undefined {
    const [, life, number] = /^([0-9a-z]{1,12})\.(\d{1,15})$/.exec(place) ?? []
    if (number === undefined) return undefined
    return life === this.#life ? Number(number) : 0
  }

  /** Resolves to true when more than so many have ended, and to false when the signal is aborted or none will end any more. */
  async further(ends: number, signal: AbortSignal): Promise<boolean> {
    if (this.#count <= ends && !this.#stopped && !signal.aborted) await this.#next(signal)
    return this.#count > ends
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
