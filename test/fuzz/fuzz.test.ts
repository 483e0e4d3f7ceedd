import { describe, expect, test } from 'vitest'
import { FuzzRun } from './fuzz-run.ts'

// `npm run test:fuzz` sets them.
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 4_000)
const SEED = Number(process.env.FUZZ_SEED ?? 7)
const ONLY = (process.env.FUZZ_ONLY ?? '').split(',').filter(Boolean).map(Number)
const LONG = process.env.FUZZ_REQUESTS !== undefined

describe.runIf(LONG)(`${REQUESTS} requests, seed ${SEED}`, () => {
  test('hostile requests, and nothing breaks', { timeout: LONG ? 7_200_000 : 60_000 }, async () => {
    const progress = (line: string) => (LONG ? console.log(line) : undefined)
    const run = new FuzzRun({ requests: REQUESTS, seed: SEED, only: ONLY, progress })
    await run.run()
    const again = (index: number) => `npm run test:fuzz -- --requests ${REQUESTS} --seed ${SEED} --only ${index}`
    const report = run.findings.report(again)
    if (LONG) console.log(report)
    expect(run.findings.count, report).toBe(0)
  })
})
