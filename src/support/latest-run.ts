/**
 * A task that many may ask for: it runs for all who asked before it began. Asked for while it runs, it runs once more
 * afterwards, once for all of them.
 */
export class LatestRun {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  ask(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#task().finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.ask()
      })
    return this.#next
  }
}
