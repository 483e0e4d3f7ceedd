import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ENV, exploring } from '../explore/exploring.ts'
import { CrashRuns, type WorkerCommands } from './crash-runs.ts'
import { CRASH_KINDS, EXPECTED, EXPECTED_FAULTS, type Expected, type ExpectedOutcome } from './expected.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-mistakes-'))
let runs: CrashRuns
beforeAll(async () => {
  runs = await CrashRuns.open()
})
afterAll(async () => {
  await runs[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function workerOf(mistake: string): WorkerCommands {
  const work = [process.execPath, WORKER]
  return { work, books: [...work, 'books'], env: { MISTAKE: mistake } }
}

const TRANSFERS = [
  { operation: 'deposit', ordinal: 1 },
  { operation: 'deposit', ordinal: 2 },
  { operation: 'withdraw', ordinal: 1 },
] as const
const MOVED = ['deposit 250000000', 'deposit 100000000', 'withdraw 50000000']

const FAULTS = ['reset-on-request', 'reset-after-broadcast', 'internal-error', 'gateway-timeout-after-broadcast']

/** What came of it at each transfer, in the form of the table; where that leaves it to chance, as the table has it. */
async function tableOf(mistake: string, way: keyof Expected): Promise<Expected['kills']> {
  const table = {} as Expected['kills']
  for (const kind of CRASH_KINDS) {
    const { outcomes, books } = EXPECTED[mistake]![way][kind]
    const came: ExpectedOutcome[] = []
    let shown = ''
    for (const [i, transfer] of TRANSFERS.entries()) {
      const [worker, point] = [workerOf(mistake), { kind, ...transfer }]
      const { outcome, right } = await (way === 'kills' ? runs.killed(worker, point) : runs.twins(worker, point))
      const expected = outcomes[i] ?? null
      const isAllowed = expected === null || (typeof expected !== 'string' && expected.includes(outcome))
      came.push(isAllowed ? expected : outcome)
      shown += books[i] === '?' ? '?' : right ? 'r' : 'w'
    }
    const [first, second, third] = came
    table[kind] = { outcomes: [first ?? null, second ?? null, third ?? null], books: shown }
  }
  return table
}

describe.each(Object.entries(EXPECTED))('the worker with the mistake "%s"', (mistake, { kills, twins }) => {
  test('moves its money once when nothing happens, and nothing when it is started again', async () => {
    const { code, outcome, moved, right } = await runs.unharmed(workerOf(mistake))
    expect({ code, outcome, moved, right }).toEqual({ code: 0, outcome: 'survived', moved: MOVED, right: true })
  })

  test('comes to what is expected when it is killed', async () => {
    expect(await tableOf(mistake, 'kills')).toEqual(kills)
  })

  test('comes to what is expected when it has a twin', async () => {
    expect(await tableOf(mistake, 'twins')).toEqual(twins)
  })

  test('comes to what is expected when a fault strikes', async () => {
    const { work, env } = workerOf(mistake)
    const wish = { kinds: FAULTS, operations: ['deposit', 'withdraw'] as const }
    const { results } = await exploring(work, { ...wish, env: { ...ENV, ...env, WORKER_DIR: folder } })
    const came = results.map(({ trial, outcome }) => [trial.id, outcome])
    const expected = results.map(({ trial }) => {
      return [trial.id, EXPECTED_FAULTS[mistake]?.[trial.harms[0]!.hazard.id] ?? 'survived']
    })
    expect(came).toHaveLength(FAULTS.length * TRANSFERS.length)
    expect(came).toEqual(expected)
  })
})
