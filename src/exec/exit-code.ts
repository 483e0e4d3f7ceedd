import { mayFail } from '../scenarios/scenario-schema.ts'
import type { Report } from '../verdict/report.ts'
import { codeOfEnd, codeOfSignal } from './command-end.ts'
import type { Run } from './sandbox-run.ts'

/** Exit code of a flag or a file that cannot be used. */
export const USAGE = 2
/** Exit codes of a verdict. */
export const FAILED = 3
export const INCONCLUSIVE = 4

/** The basis of an exit code. */
export interface ExecOutcome {
  /** Runs; their reports have the baseline applied. */
  runs: readonly Pick<Run, 'scenario' | 'end' | 'report' | 'unusableBooks'>[]
  /** True if the baseline itself has complaints. */
  badBaseline: boolean
  allowInconclusive: boolean
  /** The signal that interrupted the runs. */
  interruptedBy: NodeJS.Signals | undefined
}

/**
 * The exit code of `exec`: that of the first command that failed by itself, else that of the verdict. An interrupted command
 * did not finish, so its own code does not count; one that ran out of time is a failure. In a scenario in which the command
 * may fail, its code does not count: the verdict decides. Books of a wrong form are a mistake of usage, unless something failed.
 */
export function exitCodeOf({ runs, badBaseline, allowInconclusive, interruptedBy }: ExecOutcome): number {
  if (interruptedBy) return codeOfSignal(interruptedBy)
  const own = runs.filter(failedByItself).map(({ end }) => codeOfEnd(end))[0]
  if (own !== undefined) return own
  const reports = runs.map(({ report }) => report)
  if (badBaseline || reports.some(({ verdict }) => verdict === 'failed')) return FAILED
  if (runs.some(({ unusableBooks }) => unusableBooks?.exitCode === USAGE)) return USAGE
  if (reports.some(({ verdict }) => verdict === 'inconclusive') && !allowInconclusive) return INCONCLUSIVE
  // A suite that sent the service no request shows nothing of the client, whatever is allowed.
  return reports.some(isIdle) ? INCONCLUSIVE : 0
}

/** @returns true if the command failed where it may not; a signal or a timeout is not a failed assertion, so both always count */
export function failedByItself({ scenario, end }: Pick<Run, 'scenario' | 'end'>): boolean {
  if (codeOfEnd(end) === 0) return false
  return end.timedOut || end.signal !== null || !mayFail(scenario)
}

/** @returns true if the service got no request at all */
export function isIdle({ coverage }: Pick<Report, 'coverage'>): boolean {
  return coverage.operations.every(({ exercised }) => !exercised)
}
