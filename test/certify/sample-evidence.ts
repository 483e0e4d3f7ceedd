import type { Evidence } from '../../src/certify/evidence.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { version } from '../../src/version.ts'

/** Evidence of a client with one mistake, which costs money; everything that comes from outside is `text`. */
export function sampleEvidence(text = 'npm'): Evidence {
  return {
    form: 'yield-sandbox certificate 1',
    version,
    specification: '1.0.0',
    subject: text,
    command: [text, 'test'],
    flags: ['--before', text],
    fixtures: null,
    seed: 1,
    clock: '2026-01-01T00:00:00Z',
    scenarios: [
      { name: 'dropped-deposit', verdict: 'failed', end: '0' },
      { name: 'expired-cursor', verdict: 'inconclusive', end: '0' },
    ],
    findings: FINDING_IDS.map((id, i) => {
      if (i === 0) return { id, outcome: 'contradicted' as const, scenarios: ['dropped-deposit'] }
      if (i === 1) return { id, outcome: 'proved' as const, scenarios: ['dropped-deposit', 'expired-cursor'] }
      return { id, outcome: 'unproved' as const, scenarios: [] }
    }),
    exploration: {
      repeatable: true,
      trials: [
        {
          id: `deposit#1@${text} hang-on-request`,
          operation: 'deposit',
          hazard: 'hang-on-request',
          outcome: 'survived',
        },
        {
          id: `deposit#1@${text} reset-after-broadcast`,
          operation: 'deposit',
          hazard: 'reset-after-broadcast',
          outcome: 'silently_wrong',
        },
        { id: 'token#1 unknown-fields', operation: 'token', hazard: 'unknown-fields', outcome: 'survived' },
      ],
      bad_cells: [
        {
          operation: 'deposit',
          hazard: 'reset-after-broadcast',
          outcome: 'silently_wrong',
          trial: `deposit#1@${text} reset-after-broadcast`,
          count: 1,
          sentences: [`${text}: 2.00 USDC in aave-usdc instead of 1.00 (deposit of 1.00: twice instead of once)`],
          findings: ['idempotency-key-on-retry'],
          repeat: `yield-sandbox exec --fault 'drop_connection; phase=after_broadcast' --seed 1 -- ${text} test`,
        },
      ],
    },
  }
}
