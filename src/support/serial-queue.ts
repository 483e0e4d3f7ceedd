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
