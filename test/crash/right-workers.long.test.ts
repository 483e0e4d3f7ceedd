import { afterAll, describe, expect, test } from 'vitest'
import type { Exploration } from '../../src/explore/exploration.ts'
import { BAD, cameTo } from '../explore/exploring.ts'
import { booksOf, SEEDS, TIMES, WorkerExplorations } from './exploring-worker.ts'
import { RIGHT_WORKERS } from './right-workers.ts'

const explorations = new WorkerExplorations()
afterAll(() => explorations[Symbol.dispose]())

/** Outcomes that a worker is not to come to when it is killed or has company. */
const OPEN = ['left_undone', 'errored', 'left_open', 'perhaps_told', 'lucky', 'not_asked_for', 'equal_at_once'] as const

/** What was wrong, and what never came about. */
function wrongIn(exploration: Exploration): string[] {
  return cameTo(exploration, ...BAD, ...OPEN, 'not_exercised')
}

describe.each(RIGHT_WORKERS)('the worker in $language', ({ worker, needs }) => {
  test.for(SEEDS)('goes on wherever it is killed, and its books are right (seed %i)', async (seed, { skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    const exploration = await explorations.kill(worker, { books: booksOf(worker), options: { seed } })
    // Nine requests, of which four are writes, three of those transfers, and four moments after the last answer.
    expect(exploration.results).toHaveLength(9 + 4 + 3 + 4)
    expect(wrongIn(exploration)).toEqual([])
  })

  test.for(SEEDS)('does no harm beside a second one (seed %i)', async (seed, { skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    const exploration = await explorations.twin(worker, { books: booksOf(worker), options: { seed } })
    expect(exploration.results).toHaveLength(4 + 3 + 4 + 5)
    expect(wrongIn(exploration)).toEqual([])
  })

  // Some hundred runs, and some hundred more where a client waits: for `npm run test:crashes` alone.
  test.runIf(TIMES > 0).for(SEEDS)('goes on when it is killed twice (seed %i)', async (seed, { skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    const exploration = await explorations.kill(worker, { depth: 2, books: booksOf(worker), options: { seed } })
    expect(exploration.pairs?.reached).toBeGreaterThan(20)
    expect(wrongIn(exploration)).toEqual([])
  })

  test.runIf(TIMES > 0).for(SEEDS)('comes to no harm by any fault at any request (seed %i)', async (seed, { skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    // It waits a minute and a half for an answer: what hangs is left out.
    const kinds = [
      'drop_connection',
      'error',
      'malformed_body',
      'revert',
      'pool_paused',
      'token_expired',
      'reorg',
      'outage',
    ]
    const exploration = await explorations.explore(worker, { kinds, restarts: 1, options: { seed } })
    expect(wrongIn(exploration)).toEqual([])
    expect(cameTo(exploration, 'survived').length).toBeGreaterThan(100)
  })
})
