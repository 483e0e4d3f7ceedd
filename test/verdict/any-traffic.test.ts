import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judge } from '../../src/verdict/build-report.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { judgesAnyTraffic } from './any-traffic.ts'
import { correctTraffic } from './correct-traffic.ts'
import { evidenceOf } from './evidence.ts'

// More of it, and ten thousand exchanges: any-traffic.long.test.ts.
judgesAnyTraffic(80)

test('clients that do everything right prove something', () => {
  const proved = new Set<string>()
  for (const { exchanges, transfers } of fc.sample(correctTraffic, { numRuns: 60, seed: 7 })) {
    for (const finding of FINDINGS) {
      if (judge(finding, evidenceOf(exchanges, { transfers })).outcome === 'passed') proved.add(finding.id)
    }
  }
  const first = ['idempotency-key-on-retry', 'idempotency-key-after-error', 'single-transfer', 'outcome-after-drop']
  expect([...proved]).toEqual(
    expect.arrayContaining([...first, 'reverted-transfer', 'permanent-errors', 'retry-after']),
  )
})
