import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judge } from '../../src/verdict/build-report.ts'
import { FINDINGS } from '../../src/verdict/findings/index.ts'
import { correctTraffic } from './correct-traffic.ts'
import { evidenceOf } from './evidence.ts'
import { anyExchange } from './traffic-arbitrary.ts'

/** Judges so much traffic of any kind, and as much of clients that do everything right. */
export function judgesAnyTraffic(numRuns: number): void {
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
      { numRuns, endOnFailure: true },
    )
  })

  test('clients that do everything right, many at once, under any faults, never fail anything', () => {
    fc.assert(
      fc.property(correctTraffic, fc.boolean(), ({ exchanges, transfers }, ended) => {
        for (const finding of FINDINGS) {
          const judgement = judge(finding, evidenceOf(exchanges, { transfers, ended }))
          expect(judgement.outcome, `${finding.id}: ${judgement.explanation}`).not.toBe('failed')
        }
      }),
      { numRuns },
    )
  })
}
