import { KINDS } from '../faults/kinds/index.ts'
import type { OperationOutcome, OutcomeId } from '../oracle/outcome.ts'
import { stepByStep } from '../support/breathe.ts'
import { reportInSteps } from '../verdict/build-report.ts'
import type { Evidence } from '../verdict/finding.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import type { Report, ReportedFinding } from '../verdict/report.ts'
import type { OperationIndex } from './operation-index.ts'

/** The judgement of a whole record, by the report on it. */
export interface JudgedOperations {
  /** The worst first. */
  outcomes: readonly OperationOutcome[]
  /** Outcomes of each operation, by the id of its first request. */
  byOperation: ReadonlyMap<string, readonly OperationOutcome[]>
  /** Broken rules, and those that need review, by request id. */
  byRequest: ReadonlyMap<string, readonly ReportedFinding[]>
  rules: Pick<Report, 'proved' | 'contradicted' | 'unproved'>
  evidence: Pick<Evidence, 'forgotten'> & { portfolios: Evidence['ledger']['portfolios'] }
}

/** Judges the evidence, in steps; other tasks run in between. */
export async function judgeForOverview(evidence: Evidence, seed: number): Promise<JudgedOperations> {
  const context = { findings: FINDINGS, faultKinds: KINDS.map(({ kind }) => kind), version: '', seed }
  const report = await stepByStep(reportInSteps(evidence, context))
  const { proved, contradicted, unproved, operations } = report
  const byOperation = new Map<string, OperationOutcome[]>()
  for (const outcome of operations) {
    const [first] = outcome.request_ids
    if (first !== undefined) byOperation.set(first, [...(byOperation.get(first) ?? []), outcome])
  }
  const byRequest = new Map<string, ReportedFinding[]>()
  for (const finding of report.findings) {
    if (finding.outcome !== 'failed' && finding.outcome !== 'needs_review') continue
    for (const id of finding.request_ids) byRequest.set(id, [...(byRequest.get(id) ?? []), finding])
  }
  return {
    ...{ outcomes: operations, byOperation, byRequest },
    rules: { proved, contradicted, unproved },
    evidence: { forgotten: evidence.forgotten, portfolios: evidence.ledger.portfolios },
  }
}

/** Outcomes of two operations that are one to a reader: the same again under another key. */
const JOINING: readonly OutcomeId[] = ['paid_twice', 'paid_twice_put_right', 'made_twice', 'lucky']

/** Numbers of operations that belong to the row of an earlier one, each with the number of that one. */
export function joinsOf({ outcomes }: JudgedOperations, index: OperationIndex): Map<number, number> {
  const joins = new Map<number, number>()
  const rootOf = (number: number): number => {
    const next = joins.get(number)
    return next === undefined ? number : rootOf(next)
  }
  for (const { outcome, request_ids } of outcomes) {
    if (!JOINING.includes(outcome)) continue
    const groups = request_ids.flatMap((id) => index.ofRequest(id) ?? [])
    const [first] = groups
    for (const other of groups) {
      if (!first || other.operation !== first.operation) continue
      const [one, two] = [rootOf(first.number), rootOf(other.number)]
      if (one !== two) joins.set(Math.max(one, two), Math.min(one, two))
    }
  }
  return new Map([...joins.keys()].map((number) => [number, rootOf(number)]))
}
