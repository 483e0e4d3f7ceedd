import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BAD, cameTo, ENV, exploring } from '../explore/exploring.ts'
import { type CrashPoint, CrashRuns } from './crash-runs.ts'
import { CRASH_KINDS } from './expected.ts'
import { RIGHT_WORKERS } from './right-workers.ts'

const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-workers-'))
let runs: CrashRuns
beforeAll(async () => {
  runs = await CrashRuns.open()
})
afterAll(async () => {
  await runs[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const TRANSFERS = [
  { operation: 'deposit', ordinal: 1 },
  { operation: 'deposit', ordinal: 2 },
  { operation: 'withdraw', ordinal: 1 },
] as const
const OTHERS = [
  'token',
  'list_pools',
  'create_end_user',
  'create_portfolio',
  'list_portfolios',
  'list_transactions',
] as const

/** Every place at which it can be killed with an outcome that is not chance. */
const POINTS: CrashPoint[] = [
  ...OTHERS.map((operation) => ({ kind: 'request' as const, operation, ordinal: 1 })),
  { kind: 'unanswered', operation: 'create_portfolio', ordinal: 1 },
  ...CRASH_KINDS.flatMap((kind) => TRANSFERS.map((transfer) => ({ kind, ...transfer }))),
]

describe.each(RIGHT_WORKERS)('the worker in $language', ({ worker, needs }) => {
  test('goes on wherever it was killed', async ({ skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    for (const point of POINTS) {
      const { code, outcome, sentences, right } = await runs.killed(worker, point)
      expect({ point, code, outcome, sentences, right }).toMatchObject({ code: 0, outcome: 'survived', right: true })
    }
  })

  test('has a twin without harm', async ({ skip }) => {
    if (!worker) return skip(`needs ${needs}`)
    for (const kind of CRASH_KINDS) {
      for (const transfer of TRANSFERS) {
        const { code, outcome, right } = await runs.twins(worker, { kind, ...transfer })
        expect({ kind, transfer, code, right }).toMatchObject({ code: 0, right: true })
        expect(['survived', 'key_again']).toContain(outcome)
      }
    }
  })

  test('comes to no harm by any fault at any request', async ({ skip }) => {
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
    const env = { ...ENV, WORKER_DIR: folder }
    const exploration = await exploring(worker.work, { kinds, env, restarts: 1 })
    expect(cameTo(exploration, ...BAD, 'errored', 'left_open', 'perhaps_told', 'lucky', 'not_asked_for')).toEqual([])
    expect(cameTo(exploration, 'survived').length).toBeGreaterThan(100)
  })
})
