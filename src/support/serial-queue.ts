/** Runs tasks one after another in the order they came. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve()
  #length = 0

  get idle(): boolean {
    return this.#length === 0
  }

  /** Resolves or rejects as the task does, once its turn has come. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    this.#length++
    const result = this.#tail.then(task).finally(() => this.#length--)
    this.#tail = result.catch(() => {})
    return result
  }
}

/** Runs tasks of one key one after the other, in the order they came; tasks of different keys run at once. */
export class KeyedSerialQueue {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** @returns true if a task of the key runs or waits. */
  has(key: string): boolean {
    return this.#tails.has(key)
  }

  /** Resolves or rejects as the task does. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const result = before ? before.then(task) : task()
    const tail = result.catch(() => undefined)
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    return result
  }
}

/**
 * Runs one task for many callers: a run serves all who asked before it began. Those who ask while it runs share
 * one more run afterwards.
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
