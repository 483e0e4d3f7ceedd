import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrashRuns } from './crash-runs.ts'
import { RIGHT_WORKERS } from './right-workers.ts'

let runs: CrashRuns
beforeAll(async () => {
  runs = await CrashRuns.open()
})
afterAll(() => runs[Symbol.asyncDispose]())

const MOVED = ['deposit 250000000', 'deposit 100000000', 'withdraw 50000000']
const DONE = [
  { external_id: 'customer-1', pool_id: 'aave-usdc', type: 'deposit', amount_minor: '250000000', state: 'done' },
  { external_id: 'customer-1', pool_id: 'aave-usdc', type: 'deposit', amount_minor: '100000000', state: 'done' },
  { external_id: 'customer-1', pool_id: 'aave-usdc', type: 'withdraw', amount_minor: '50000000', state: 'done' },
]
const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe.each(RIGHT_WORKERS)('the worker in $language', ({ worker, needs }) => {
  test('moves the money of its orders, ends with 0, and moves nothing when it is started again', async ({ skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    const { code, outcome, moved, books } = await runs.unharmed(worker)
    expect({ code, outcome, moved }).toEqual({ code: 0, outcome: 'survived', moved: MOVED })
    expect(books).toEqual(DONE.map((row) => ({ ...row, idempotency_key: expect.stringMatching(UUID_V4) })))
  })

  test.for([
    { kind: 'unanswered', operation: 'deposit', ordinal: 1 },
    { kind: 'under_way', operation: 'withdraw', ordinal: 1 },
  ] as const)('goes on when it was killed with its $operation $kind', async (point, { skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    const { code, outcome, moved, books, right } = await runs.killed(worker, point)
    expect({ code, outcome, moved, right }).toEqual({ code: 0, outcome: 'survived', moved: MOVED, right: true })
    expect(books.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
  })
})
