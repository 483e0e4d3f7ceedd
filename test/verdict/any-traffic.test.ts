import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { judge } from '../../src/verdict/build-report.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { processorTime } from '../helpers/processor-time.ts'
import { correctTraffic } from './correct-traffic.ts'
import { evidenceOf } from './evidence.ts'
import { anyExchange } from './traffic-arbitrary.ts'

test('no judge throws, whatever was recorded, and each names exchanges that there are', () => {
  const evidence = fc.record({
    exchanges: fc.array(anyExchange, { maxLength: 40 }),
    ended: fc.boolean(),
    forgotten: fc.record({ room: fc.nat(1), deleted: fc.nat(1), reset: fc.nat(1) }),
  })
  fc.assert(
    fc.property(evidence, ({ exchanges, ...parts }) => {
      const inOrder = exchanges.sort((a, b) => a.began.wall.localeCompare(b.began.wall))
      const ids = inOrder.map(({ request_id }) => request_id)
      for (const finding of FINDINGS) {
        const judgement = judge(finding, evidenceOf(inOrder, parts))
        expect(judgement.outcome, judgement.explanation).not.toBe('errored')
        expect(ids).toEqual(expect.arrayContaining(judgement.request_ids))
        const places = judgement.request_ids.map((id) => ids.indexOf(id))
        expect(places, `${finding.id}: oldest first, once each`).toEqual([...new Set(places)].sort((a, b) => a - b))
      }
    }),
    { numRuns: 300, endOnFailure: true },
  )
})

describe('clients that do everything right, many at once, under any faults', () => {
  test('never fail anything', () => {
    fc.assert(
      fc.property(correctTraffic, fc.boolean(), ({ exchanges, transfers }, ended) => {
        for (const finding of FINDINGS) {
          const judgement = judge(finding, evidenceOf(exchanges, { transfers, ended }))
          expect(judgement.outcome, `${finding.id}: ${judgement.explanation}`).not.toBe('failed')
        }
      }),
      { numRuns: 300 },
    )
  })

  test('prove something', () => {
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
})

test('ten thousand exchanges take no judge long', () => {
  const many: RecordedExchange[] = fc.sample(anyExchange, { numRuns: 2000, seed: 1 })
  const exchanges = [...many, ...many, ...many, ...many, ...many]
  for (const finding of FINDINGS) {
    const took = processorTime(() => void judge(finding, evidenceOf(exchanges)))
    expect(took, finding.id).toBeLessThan(2000)
  }
})
