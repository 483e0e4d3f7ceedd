import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { judge } from '../../src/verdict/build-report.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { processorTime } from '../helpers/processor-time.ts'
import { judgesAnyTraffic } from './any-traffic.ts'
import { correctTraffic } from './correct-traffic.ts'
import { evidenceOf } from './evidence.ts'
import { anyExchange } from './traffic-arbitrary.ts'

// More of it: any-traffic.long.test.ts.
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
test('ten thousand exchanges take no judge long', () => {
  const many: RecordedExchange[] = fc.sample(anyExchange, { numRuns: 2000, seed: 1 })
  const exchanges = [...many, ...many, ...many, ...many, ...many]
  for (const finding of FINDINGS) {
    const took = processorTime(() => void judge(finding, evidenceOf(exchanges)))
    expect(took, finding.id).toBeLessThan(2000)
  }
})
