import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrashRuns, type WorkerCommands } from './crash-runs.ts'
import { CRASH_KINDS, EXPECTED, type Expected, type ExpectedOutcome } from './expected.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

let runs: CrashRuns
beforeAll(async () => {
  runs = await CrashRuns.open()
})
afterAll(() => runs[Symbol.asyncDispose]())

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
})
