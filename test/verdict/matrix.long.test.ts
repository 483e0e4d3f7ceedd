import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { type BuiltClients, buildClients, python, shell } from './clients/build-clients.ts'
import { performAll, type Row, rightRow, rightRows, wrongRows } from './clients/matrix.ts'
import { matrixTable } from './clients/matrix-table.ts'
import { gistOf, keepRecording, outcomeOf, readRecording } from './clients/recording.ts'
import { Stage } from './clients/stage.ts'
import { mistakes } from './clients/wrong-clients.ts'
import { wrongWith } from './clients/wrong-with.ts'

// Clients mostly wait.
vi.setConfig({ maxConcurrency: 12 })

// npm run test:matrix sets these.
const times = Number(process.env.MATRIX_TIMES ?? 0)
const together = Number(process.env.MATRIX_CLIENTS ?? 8)
const atOnce = Number(process.env.MATRIX_AT_ONCE ?? 8)
const only = process.env.MATRIX_ONLY
// npm run record:clients sets this.
const record = process.env.MATRIX_RECORD !== undefined

/** Characters of what clients printed, of a row that is not as it must be. */
const OUTPUT_SHOWN = 3000

let clients: BuiltClients
let stage: Stage

beforeAll(async () => {
  clients = await buildClients()
  stage = await Stage.open()
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await clients[Symbol.asyncDispose]()
})

async function holds(row: Row): Promise<void> {
  const outcome = await stage.perform(row.trial)
  expect(wrongWith(row, outcome).join('\n'), `${row.name}:\n${outcome.output}`).toBe('')
  if (record) keepRecording(row.name, outcome.recording)
  else expect(gistOf(outcome), 'as recorded').toEqual(gistOf(await outcomeOf(readRecording(row.name))))
}

/** Mistakes that show by the client's speed: on a busy machine even a client without pauses may be slow. */
const BY_SPEED = ['retries-without-pause', 'polls-without-pause']

const fails = (id: string) => holds(wrongRows(clients).find(({ name }) => name === id)!)

describe.runIf(times === 0).concurrent('a wrong client fails its own finding and no other', () => {
  test.each(mistakes.map(({ id }) => id).filter((id) => !BY_SPEED.includes(id)))('%s', fails)
})

describe.runIf(times === 0)('a wrong client fails its own finding and no other, by itself', () => {
  test.each(BY_SPEED)('%s', { retry: 3 }, fails)
})

/** Waits for most of a minute: `npm run test:matrix` does it. */
const SLOW = 'slow-confirmation'
const quick = (await shippedScenarios()).map(({ name }) => name).filter((name) => name !== SLOW)

describe.runIf(times === 0).concurrent('the reference clients pass', () => {
  test.each(quick)('%s, in TypeScript', (scenario) => holds(rightRow(clients.typescript, 1, scenario)))
  test.skipIf(!python)('dropped-deposit, in Python with requests and PyJWT', () =>
    holds(rightRow(python!, 1, 'dropped-deposit')),
  )
  test('dropped-deposit, in a shell script', () => holds(rightRow(shell, 1, 'dropped-deposit')))
  test('eight at once', async () => {
    const row = rightRow(clients.typescript, 8, 'flaky-network')
    expect(wrongWith(row, await stage.perform(row.trial))).toEqual([])
  })
})

describe.runIf(times > 0)('the whole matrix', () => {
  test(`${times} times`, { timeout: 24 * 3_600_000 }, async () => {
    const all = [...wrongRows(clients), ...rightRows(clients, await stage.scenarios(), together)]
    const rows = all.filter(({ name }) => !only || name.includes(only))
    const table = matrixTable()
    for (let time = 1; time <= times; time++) {
      const seeded = rows.map((row) => ({ ...row, trial: { ...row.trial, seed: time } }))
      await performAll(stage, seeded, {
        atOnce,
        onOutcome(row, outcome) {
          const complaints = wrongWith(row, outcome)
          table.add(row, outcome, complaints)
          for (const complaint of complaints) console.log(`time ${time}, ${row.name}: ${complaint}`)
          if (complaints.length > 0) console.log(outcome.output.slice(-OUTPUT_SHOWN))
        },
      })
      console.log(`${time} of ${times}: ${table.summary()}`)
    }
    console.log(table.render())
    expect(table.summary()).toMatch(/ 0 false alarms, 0 missed/)
  })
})
