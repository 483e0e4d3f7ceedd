/** Resolves when all callbacks that waited by then have run: long work calls it so as not to block others. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Iterates over the items and lets other tasks run after every `atOnce` of them. */
export async function* inTurns<T>(items: Iterable<T>, atOnce: number): AsyncGenerator<T> {
  let count = 0
  for (const item of items) {
    yield item
    count++
    if (count % atOnce === 0) await breathe()
  }
}

/** Runs work that is written in steps to its end, without a turn for others in between. */
export function atOnce<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Runs the same work with a turn for others after each step. */
export async function stepByStep<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await breathe()
  }
}
