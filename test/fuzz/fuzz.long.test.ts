import { expect, test } from 'vitest'
import { FuzzRun } from './fuzz-run.ts'

/** `npm run test:fuzz` sets this; without it, a short run is a test like others, on a machine however busy. */
const LONG = process.env.FUZZ_REQUESTS !== undefined
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 3_000)
const SEED = Number(process.env.FUZZ_SEED ?? 7)
const ONLY = (process.env.FUZZ_ONLY ?? '').split(',').filter(Boolean).map(Number)
/** Seconds that an answer may take. */
const PATIENCE = Number(process.env.FUZZ_PATIENCE ?? 45)

test('hostile requests, and nothing breaks', { timeout: LONG ? 7_200_000 : 300_000 }, async () => {
  const progress = (line: string) => (LONG ? console.log(line) : undefined)
  const patience = { answer: PATIENCE * 1_000, reset: PATIENCE * 400 }
  const run = new FuzzRun({ requests: REQUESTS, seed: SEED, only: ONLY, patience, progress })
  await run.run()
  const again = (index: number) => `npm run test:fuzz -- --requests ${REQUESTS} --seed ${SEED} --only ${index}`
  const report = run.findings.report(again)
  if (LONG) console.log(report)
  expect(run.findings.count, report).toBe(0)
})
