/** Resolves when whatever waited by then has had its turn: for long work that must not hold up others. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What is iterated, so many at a time: in between, others have their turn. */
export async function* inTurns<T>(items: Iterable<T>, atOnce: number): AsyncGenerator<T> {
  let count = 0
  for (const item of items) {
    yield item
    count++
    if (count % atOnce === 0) await breathe()
  }
}

/** The result of work that is written in steps, when nobody else is to have a turn in between. */
export function atOnce<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same, with a turn for others after each step. */
export async function stepByStep<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await breathe()
  }
}
