import { afterAll, describe, expect, test } from 'vitest'
import { booksOf, WorkerExplorations } from './exploring-worker.ts'
import { RIGHT_WORKERS } from './right-workers.ts'

const explorations = new WorkerExplorations()
afterAll(() => explorations[Symbol.dispose]())

/** One of them: what they have in common is told by any. */
const quick = RIGHT_WORKERS.filter(({ language }) => language === 'TypeScript')

// All of them, everywhere, in pairs and with a second worker: right-workers.long.test.ts.
describe.each(quick)('the worker in $language', ({ worker, needs }) => {
  test('moves money once, nothing when it is started again, and goes on when it is killed at its withdrawal', async ({
    skip,
  }) => {
    if (!worker) return skip(`needs ${needs}`)
    // The runs without a kill show the first two, with books that are right.
    const { baseline, results } = await explorations.kill(worker, { operations: ['withdraw'], books: booksOf(worker) })
    expect(baseline).toMatchObject({ difference: null })
    expect(results.map(({ trial, outcome, end }) => [trial.id, outcome, end])).toEqual(
      ['under-way', 'unanswered', 'on-request'].map((point) => [
        `withdraw#1@customer-1 killed-${point}`,
        'survived',
        '0',
      ]),
    )
  })
})
