import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { judge } from '../../src/verdict/build-report.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { processorTime } from '../helpers/processor-time.ts'
import { judgesAnyTraffic } from './any-traffic.ts'
import { evidenceOf } from './evidence.ts'
import { anyExchange } from './traffic-arbitrary.ts'

judgesAnyTraffic(1_000)

test('ten thousand exchanges take no judge long', () => {
  const many: RecordedExchange[] = fc.sample(anyExchange, { numRuns: 2000, seed: 1 })
  const exchanges = [...many, ...many, ...many, ...many, ...many]
  for (const finding of FINDINGS) {
    const took = processorTime(() => void judge(finding, evidenceOf(exchanges)))
    expect(took, finding.id).toBeLessThan(2000)
  }
})
