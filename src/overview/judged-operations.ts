import { KINDS } from '../faults/kinds/index.ts'
import { operationsInSteps } from '../oracle/operation.ts'
import type { OperationOutcome } from '../oracle/outcome.ts'
import { stepByStep } from '../support/breathe.ts'
import { reportInSteps } from '../verdict/build-report.ts'
import type { Evidence } from '../verdict/finding.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import type { Report, ReportedFinding } from '../verdict/report.ts'
import type { EndUserMoney } from './contract.ts'
import { joinOperations, OperationNumbers } from './join-operations.ts'
import { surplusOf } from './surplus.ts'

/** The judgement of a whole record, by the report on it. */
export interface JudgedOperations {
  /** The worst first. */
  outcomes: readonly OperationOutcome[]
  /** Outcomes of each operation, by the id of its first request. */
  byOperation: ReadonlyMap<string, readonly OperationOutcome[]>
  /** Broken rules, and those that need review, by request id. */
  byRequest: ReadonlyMap<string, readonly ReportedFinding[]>
  /** Numbers of the operations by their transactions, and their requests. */
  numbers: OperationNumbers
  /** Money beyond what was asked for, by the name of the end user. */
  surplus: ReadonlyMap<string, EndUserMoney['surplus']>
  rules: Pick<Report, 'proved' | 'contradicted' | 'unproved'>
  evidence: Pick<Evidence, 'forgotten' | 'taken_over'> & { portfolios: Evidence['ledger']['portfolios'] }
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
  const groups = joinOperations(await stepByStep(operationsInSteps(evidence)), operations)
  return {
    ...{ outcomes: operations, byOperation, byRequest },
    numbers: new OperationNumbers(groups),
    surplus: surplusOf(groups, operations, evidence.ledger.portfolios),
    rules: { proved, contradicted, unproved },
    evidence: {
      forgotten: evidence.forgotten,
      taken_over: evidence.taken_over,
      portfolios: evidence.ledger.portfolios,
    },
  }
}
