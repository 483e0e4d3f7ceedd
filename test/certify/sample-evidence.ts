import type { CertificateEvidence, CertifiedIncident } from '../../src/certify/evidence.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { version } from '../../src/version.ts'

/** Evidence of a client with one mistake, which costs money; everything that comes from outside is `text`. */
export function sampleEvidence(text = 'npm'): CertificateEvidence {
  return {
    form: 'yield-sandbox certificate 2',
    version,
    specification: '1.0.0',
    subject: text,
    command: [text, 'test'],
    flags: ['--before', text],
    fixtures: null,
    seed: 1,
    clock: '2026-01-01T00:00:00Z',
    scenarios: [
      {
        name: 'dropped-deposit',
        verdict: 'failed',
        end: '0',
        may_fail: false,
        operations: [{ type: 'deposit', external_id: text, outcome: 'paid_twice', level: 'critical', count: 2 }],
      },
      { name: 'expired-cursor', verdict: 'inconclusive', end: '0', may_fail: false, operations: [] },
      {
        name: 'reverted-deposit',
        verdict: 'passed',
        end: '1',
        may_fail: true,
        operations: [{ type: 'deposit', external_id: null, outcome: 'refused', level: 'note', count: 1 }],
      },
    ],
    findings: FINDING_IDS.map((id, i) => {
      const where = { contradicted_in: [], proved_in: [], review_in: [] }
      if (i === 0) {
        const [contradicted_in, proved_in] = [['dropped-deposit'], ['expired-cursor']]
        return { id, outcome: 'contradicted' as const, contradicted_in, proved_in, review_in: ['reverted-deposit'] }
      }
      if (i === 1) return { id, outcome: 'proved' as const, ...where, proved_in: ['dropped-deposit', 'expired-cursor'] }
      return { id, outcome: 'unproved' as const, ...where }
    }),
    exploration: {
      repeatable: true,
      trials: [
        {
          id: `deposit#1@${text} hang-on-request`,
          operation: 'deposit',
          hazard: 'hang-on-request',
          outcome: 'survived',
          level: 'ok',
        },
        {
          id: `deposit#1@${text} reset-after-broadcast`,
          operation: 'deposit',
          hazard: 'reset-after-broadcast',
          outcome: 'paid_twice',
          level: 'critical',
        },
        {
          id: 'token#1 unknown-fields',
          operation: 'token',
          hazard: 'unknown-fields',
          outcome: 'survived',
          level: 'ok',
        },
      ],
      incidents: [incident('deposit', 'reset-after-broadcast', text), incident('withdraw', 'hang-on-request', text)],
    },
  }
}

/** An incident of that one cause, at that place. */
export function incident(operation: 'deposit' | 'withdraw', hazard: string, text = 'npm'): CertifiedIncident {
  return {
    operation,
    hazard,
    outcome: 'paid_twice',
    level: 'critical',
    trial: `${operation}#1@${text} ${hazard}`,
    count: 1,
    sentences: [`${text}: 2.00 USDC in aave-usdc instead of 1.00 (${operation} of 1.00: twice instead of once)`],
    findings: ['idempotency-key-on-retry'],
    repeat: `yield-sandbox explore --trial '${operation}#1 ${hazard}' --seed 1 -- ${text} test`,
  }
}
