import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Bench, judge, type Ran } from './bench.ts'
import { clientOf, isInstalled } from './clients.ts'
import { complaintsAbout, failuresOf, sampleOf, titleOf } from './table/complaints.ts'
import { isSteadfast, situationsOf } from './table/expected.ts'
import { ROWS } from './table/index.ts'
import type { Row } from './table/row.ts'
import { BY_CHANCE } from './table/scenarios.ts'
import type { Situation } from './table/situations.ts'

// Clients mostly wait.
vi.setConfig({ maxConcurrency: 8 })

// npm run test:oracle sets these.
const times = Number(process.env.ORACLE_TIMES ?? 0)
const from = Number(process.env.ORACLE_FROM ?? 1)
const only = new RegExp(process.env.ORACLE_ONLY ?? '')
const atOnce = Number(process.env.ORACLE_AT_ONCE ?? 8)
const runs = process.env.ORACLE_RUNS

let bench: Bench

beforeAll(async () => {
  bench = await Bench.open()
})
afterAll(() => bench[Symbol.asyncDispose]())

/** What is not as the table has it, in words. */
async function complaints(row: Row, situation: Situation, seed?: number): Promise<string[]> {
  return complaintsAbout(row, situation, await judge(await ranOf(row, situation, seed)))
}

/** A run, or one that was kept earlier: the judge can be tried on that anew, without the client. */
async function ranOf(row: Row, situation: Situation, seed = 7): Promise<Ran> {
  const path = runs && join(runs, String(seed), `${row.name}: ${titleOf(situation)}`)
  if (path && existsSync(path)) return deserialize(gunzipSync(await readFile(path))) as Ran
  const ran = await bench.run(await clientOf(row), situation, seed)
  if (path) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, gzipSync(serialize(ran)))
  }
  return ran
}

/** What a client came to where chance decides, and may not. */
async function failures(row: Row, scenario: string, seed: number): Promise<string[]> {
  return failuresOf(await judge(await ranOf(row, { scenario }, seed)))
}

const steadfast = ROWS.filter((row) => isInstalled(row) && isSteadfast(row))
/** Of these, a few without a library, and one of another language. */
const SAMPLES = steadfast.filter(({ name }) =>
  ['same-key', 'looks-in-list', 'plain-fetch', 'python-outbox'].includes(name),
)

/** The libraries and programs that take long to start are for `npm run test:oracle`. */
const ready = ROWS.filter(
  (row) =>
    isInstalled(row) &&
    !row.heavy &&
    (row.library ?? 'plain-fetch') === 'plain-fetch' &&
    (row.program?.[0] ?? 'python3') === 'python3',
)

describe.runIf(times === 0).concurrent('a client comes to what the table says', () => {
  const samples = ready.flatMap((row) => sampleOf(row).map((situation) => ({ row, situation })))
  test.each(samples.map(({ row, situation }) => [row.name, titleOf(situation), row, situation] as const))(
    '%s: %s',
    async (_name, _title, row, situation) => {
      expect(await complaints(row, situation)).toEqual([])
    },
  )
})

describe.runIf(times === 0).concurrent('a right client comes to no failure where chance decides', () => {
  const runs = BY_CHANCE.flatMap((scenario) =>
    SAMPLES.flatMap((row) => [1, 2].map((seed) => ({ scenario, row, seed }))),
  )
  test.each(runs.map(({ scenario, row, seed }) => [row.name, scenario, seed, row] as const))(
    '%s: %s with seed %i',
    async (_, scenario, seed, row) => {
      expect(await failures(row, scenario, seed)).toEqual([])
    },
  )
})

describe.runIf(times > 0)('at length', () => {
  test(`all clients in all situations, ${times} times`, { timeout: 24 * 3_600_000 }, async () => {
    const inTable = ROWS.filter(isInstalled).flatMap((row) =>
      situationsOf(row).map((situation) => ({
        row,
        title: titleOf(situation),
        judge: (seed: number) => complaints(row, situation, seed),
      })),
    )
    const byChance = BY_CHANCE.flatMap((title) =>
      steadfast.map((row) => ({ row, title, judge: (seed: number) => failures(row, title, seed) })),
    )
    const cells = [...inTable, ...byChance].filter(({ row, title }) => only.test(`${row.name}: ${title}`))
    const missing = ROWS.filter((row) => !isInstalled(row)).map(({ name }) => name)
    if (missing.length > 0) console.log(`not installed, so not tried: ${missing.join(', ')}`)
    const differences: string[] = []
    for (let time = from; time < from + times; time++) {
      const waiting = cells.values()
      const work = async () => {
        for (const { row, title, judge } of waiting) {
          const found = await judge(time).catch((error: Error) => [`it failed: ${error.message}`])
          for (const one of found) {
            differences.push(`time ${time}, ${row.name}, ${title}: ${one}`)
            console.log(differences.at(-1))
          }
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      console.log(
        `seed ${time}, ${time - from + 1} of ${times}: ${cells.length} runs each, ${differences.length} differences so far`,
      )
    }
    expect(differences).toEqual([])
  })
})
