import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { Exploration, TrialOutcome } from '../../src/explore/exploration.ts'
import { EXPECTED, EXPECTED_FAULTS, type Expected, POINTS, type PointKind } from './expected.ts'
import { booksOf, SEEDS, TIMES, type WorkerCommands, WorkerExplorations } from './exploring-worker.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

const explorations = new WorkerExplorations()
afterAll(() => explorations[Symbol.dispose]())

function workerOf(mistake: string): WorkerCommands {
  const work = [process.execPath, WORKER]
  return { work, books: [...work, 'books'], env: { MISTAKE: mistake } }
}

const TRANSFERS = ['deposit#1@customer-1', 'deposit#2@customer-1', 'withdraw#1@customer-1'] as const
const AT_TRANSFERS = { operations: ['deposit', 'withdraw'] } as const

const FAULTS = ['reset-on-request', 'reset-after-broadcast', 'internal-error', 'gateway-timeout-after-broadcast']

/** Without `npm run test:crashes`, one worker of each sort. */
const REPRESENTATIVE = ['', 'key-per-start', 'done-before-sending', 'pays-back-what-seems-lost']
const WORKERS = Object.entries(EXPECTED).filter(([mistake]) => TIMES > 0 || REPRESENTATIVE.includes(mistake))

/** What came of it at each transfer, by the hazard. Where the table allows several outcomes and has the one that came, it stands for it. */
function tableOf(way: keyof Expected, mistake: string, { results }: Exploration): Record<string, unknown> {
  const came = new Map(results.map(({ trial, outcome }) => [trial.id, outcome]))
  const kinds = Object.entries(POINTS[way]) as [PointKind, string][]
  const rows = kinds.map(([kind, hazard]) => {
    const expected = EXPECTED[mistake]![way][kind].outcomes
    return [
      kind,
      TRANSFERS.map((place, i) => {
        const outcome: TrialOutcome | undefined = came.get(`${place} ${hazard}`)
        const allowed = expected[i]
        return Array.isArray(allowed) && allowed.includes(outcome) ? allowed : outcome
      }),
    ]
  })
  return Object.fromEntries(rows)
}

const expectedOf = (way: keyof Expected, mistake: string) =>
  Object.fromEntries(Object.entries(EXPECTED[mistake]![way]).map(([kind, { outcomes }]) => [kind, [...outcomes]]))

describe.each(WORKERS)('the worker with the mistake "%s"', (mistake, { kills }) => {
  const worker = workerOf(mistake)

  test.each(SEEDS)('comes to what is expected when it is killed (seed %i)', async (seed) => {
    const exploration = await explorations.kill(worker, { ...AT_TRANSFERS, options: { seed } })
    expect(tableOf('kills', mistake, exploration)).toEqual(expectedOf('kills', mistake))
  })

  test.each(SEEDS)('comes to what is expected beside a second one (seed %i)', async (seed) => {
    const exploration = await explorations.twin(worker, { ...AT_TRANSFERS, options: { seed } })
    expect(tableOf('twins', mistake, exploration)).toEqual(expectedOf('twins', mistake))
  })

  test.each(SEEDS)('has books that are right or wrong, as expected, when it is killed (seed %i)', async (seed) => {
    const wish = { ...AT_TRANSFERS, books: booksOf(worker), options: { seed } }
    const { results } = await explorations.kill(worker, wish)
    const isWrong = new Map(
      results.map(({ trial, operations }) => [trial.id, operations.some(({ outcome }) => outcome === 'wrong_books')]),
    )
    for (const [kind, hazard] of Object.entries(POINTS.kills) as [PointKind, string][]) {
      const letters = TRANSFERS.map((place) => (isWrong.get(`${place} ${hazard}`) ? 'w' : 'r'))
      expect([kind, letters.join('')]).toEqual([kind, kills[kind].books])
    }
  })

  test.runIf(TIMES > 0)('comes to what is expected when a fault strikes', async () => {
    const { results } = await explorations.explore(worker, { ...AT_TRANSFERS, kinds: FAULTS })
    const came = results.map(({ trial, outcome }) => [trial.id, outcome])
    const expected = results.map(({ trial }) => {
      return [trial.id, EXPECTED_FAULTS[mistake]?.[trial.harms[0]!.hazard.id] ?? 'survived']
    })
    expect(came).toHaveLength(FAULTS.length * TRANSFERS.length)
    expect(came).toEqual(expected)
  })
})
