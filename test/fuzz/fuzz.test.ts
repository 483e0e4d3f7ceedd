import { expect, test } from 'vitest'
import { FuzzRun } from './fuzz-run.ts'

/** More of them: fuzz.long.test.ts, and `npm run test:fuzz`. */
const REQUESTS = 60
const SEED = 7

test('hostile requests, and nothing breaks', async () => {
  const patience = { answer: 45_000, reset: 18_000 }
  const run = new FuzzRun({ requests: REQUESTS, seed: SEED, only: [], patience, progress: () => undefined })
  await run.run()
  const again = (index: number) => `npm run test:fuzz -- --requests ${REQUESTS} --seed ${SEED} --only ${index}`
  expect(run.findings.count, run.findings.report(again)).toBe(0)
})
