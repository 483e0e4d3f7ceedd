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
