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

/** Runs as many tasks at once as there are lanes; the others wait in the order they came. */
export class Lanes {
  readonly #slots: Slots

  constructor(count: number) {
    this.#slots = new Slots(count)
  }

  /** Resolves or rejects as the task does, once its turn has come. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    const release = await this.#slots.take(new Promise(() => {})) // for as long as it takes
    try {
      return await task()
    } finally {
      release?.()
    }
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
