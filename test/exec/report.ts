import type { Outcome } from '../../src/verdict/finding.ts'
import type { FindingId } from '../../src/verdict/finding-ids.ts'
import type { Report, Verdict } from '../../src/verdict/report.ts'

/** A report with these outcomes, on a client that asked for the pools. */
export function reportOf(
  verdict: Verdict,
  outcomes: Partial<Record<FindingId, Outcome>> = {},
  { unmet = [], used = true, scenario }: { unmet?: string[]; used?: boolean; scenario?: string } = {},
): Report {
  const findings = Object.entries(outcomes).map(([id, outcome]) => ({
    id: id as FindingId,
    title: `The title of ${id}`,
    outcome,
    impact: 'serious' as const,
    rule: 'Rule',
    explanation: 'Explanation.',
    consequence: 'Consequence.',
    required: false,
    request_ids: [],
  }))
  const count = (...wanted: Outcome[]) => findings.filter(({ outcome }) => wanted.includes(outcome)).length
  return {
    verdict,
    summary: `${verdict}.`,
    headline: `Money of ${scenario ?? 'no scenario'}.`,
    proved: count('passed'),
    contradicted: count('failed'),
    unproved: count('needs_review', 'not_exercised', 'errored'),
    ...(scenario !== undefined && { scenario }),
    seed: 7,
    created_at: '2026-11-22T00:00:00.000Z',
    version: '0.1.0',
    unmet,
    configuration: [],
    findings,
    coverage: { operations: [{ id: 'list_pools', exercised: used, count: used ? 1 : 0 }], errors: [], faults: [] },
    operations: [],
    exchanges: [],
  }
}
