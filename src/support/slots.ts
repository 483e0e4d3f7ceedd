/** Lets at most `count` work at a time; the others wait for their turn. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves to the function that releases the slot; to undefined if the patience ends first. */
  async take(patience: Promise<unknown>): Promise<(() => void) | undefined> {
    if (this.#free > 0) this.#free--
    else if (!(await this.#turn(patience))) return undefined
    return () => this.#release()
  }

  #turn(patience: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const turn = () => resolve(true)
      this.#waiting.add(turn)
      void patience.then(() => {
        if (this.#waiting.delete(turn)) resolve(false)
      })
    })
  }

  /** Hands the slot on without freeing it, so that nobody takes it out of turn. */
  #release(): void {
    const [turn] = this.#waiting
    if (!turn) this.#free++
    else {
      this.#waiting.delete(turn)
      turn()
    }
  }
}
