import { KINDS } from '../../../src/faults/kinds/index.ts'
import { type OperationOutcome, OUTCOMES, type OutcomeId } from '../../../src/oracle/outcome.ts'
import { buildReport } from '../../../src/verdict/build-report.ts'
import { FINDING_IDS } from '../../../src/verdict/finding-ids.ts'
import { FINDINGS } from '../../../src/verdict/findings/index.ts'
import type { Report } from '../../../src/verdict/report.ts'
import { evidenceOf, finding } from '../evidence.ts'
import { exchange } from '../exchange.ts'

const DROP = {
  id: 'fault-1',
  kind: 'drop_connection',
  phase: 'after_broadcast',
  explanation: 'The connection is reset right after the transaction was broadcast.',
}

/** What a client may choose itself, made to break out of every form. */
export const HOSTILE = [
  `<script>alert(1)</script><img src=x onerror=alert(2)>"'`,
  '\u001b[2J\u001b]0;title\u0007\u009b31m',
  ']]> &amp; <![CDATA[ \u0000\uffff\ud800',
  '[click](https://evil.example) ![x](https://evil.example/x.png) `code` | cell | @everyone #1 https://evil.example',
  '\u202eright to left\u2066',
  'a\r\nb\u2028c',
  'long '.repeat(20_000),
]

/**
 * A report with every outcome and a cause in the set-up, as a client that calls everything `text` would have it. By the real findings,
 * each made to come out as its place in the list says.
 */
export function sampleReport(text = 'alice'): Report {
  const key = (n: number) => `${n}f3a9c1e-0b52-4f6e-9d3a-2f8e5c1b7a90 ${text}`
  const path = `/v1/partner/end_users/${text}/deposit`
  const transfer = {
    type: 'deposit' as const,
    transaction_id: 't1',
    tx_hash: `0x${'9f'.repeat(32)}`,
    portfolio_id: 'jar_1',
    amount_minor: '1000',
    shown_by: null,
    steps: [],
  }
  const dropped = exchange({
    at: 0,
    until: 220,
    end: 'dropped',
    dropped: 'reset',
    response: null,
    faults: [DROP],
    external_id: text,
    idempotency: { key: key(1), use: 'first' },
    transfer,
    request: { path },
  })
  const again = exchange({
    at: 1350,
    until: 1580,
    external_id: text,
    idempotency: { key: key(2), use: 'first' },
    transfer,
    request: { path },
  })
  const refused = exchange({
    tenant: 'globex',
    at: 1700,
    response: { status: 401, code: 'invalid_user_token' },
    refusal: {
      check: 'user_token',
      code: 'invalid_user_token',
      aspect: 'iss',
      expected: '"https://globex.example"',
      came: text,
      detail: 'x',
    },
    request: { user_token: { fingerprint: 'f', header: { kid: text }, claims: { iss: text } } },
  })
  const explanation = `A deposit of 1000 minor units for ${text} was sent again 1.1 s later under another key.`
  const request_ids = [dropped.request_id, again.request_id]
  const outcomes = [
    () => ({ outcome: 'failed' as const, explanation, expected: key(1), came: key(2), request_ids }),
    () => ({ outcome: 'passed' as const, explanation, request_ids }),
    () => ({ outcome: 'needs_review' as const, explanation, request_ids }),
    () => ({ outcome: 'not_exercised' as const, explanation, request_ids: [] }),
    () => {
      throw new Error(text)
    },
  ]
  const findings = FINDING_IDS.map((id, i) => {
    const real = FINDINGS.find((candidate) => candidate.id === id) ?? finding({ id })
    return { ...real, judge: outcomes[i % outcomes.length] ?? real.judge }
  })
  const report = buildReport(evidenceOf([dropped, again, refused], { now: Date.parse('2026-11-22T21:00:00Z') }), {
    findings,
    version: '0.1.0',
    seed: 4711,
    faultKinds: KINDS.map(({ kind }) => kind),
    scenario: { name: 'dropped-deposit', findings: ['idempotency-key-on-retry'], traffic: {} },
  })
  return { ...report, operations: sampleOperations(text, request_ids) }
}

/** One operation of each kind of level, the mildest first: a form has to sort them. */
function sampleOperations(text: string, request_ids: string[]): OperationOutcome[] {
  const operation = { tenant: 'acme', external_id: text, type: 'deposit' as const, amount_minor: '1000' }
  const of = (outcome: OutcomeId, sentence: string): OperationOutcome => ({
    ...{
      ...operation,
      outcome,
      level: OUTCOMES[outcome].level,
      sentence: `${text}'s deposit of 0.001 USDC ${sentence}`,
    },
    ...{ idempotency_key: null, portfolio_id: 'jar_1', request_ids },
  })
  return [
    of('found', 'was carried out, and your client found it in the list.'),
    of('told', 'was carried out, and your client was told.'),
    of('told', 'was carried out, and your client was told.'),
    of('refused', 'was refused, your client was told, and nothing moved.'),
    of('gave_up', 'was not carried out, and your client gave up.'),
    of('left_open', 'was carried out; your command ended with code 1 and had not been told.'),
    of('paid_twice', 'had no answer, was sent again under another key, and was carried out both times.'),
  ]
}
