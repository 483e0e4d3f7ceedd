import type { FaultRule } from '../control/contract.ts'
import type { Operation } from '../domain/operations.ts'
import { type Level, type OperationOutcome, OUTCOMES, type OutcomeId } from '../oracle/outcome.ts'

/**
 * Where something can go wrong: one exchange of the command's unharmed run, so named that the next run has the same one. Never by a
 * request id, a key or a time.
 */
export interface RequestPosition {
  operation: Operation
  /** Slug; null when all of the run is of one tenant. */
  tenant: string | null
  /** Name of the end user when it is the same in every run; null for an operation without one, and for a name that changes. */
  external_id: string | null
  /** The how-manyth end user to appear it is of, from 1; null for an operation without one. */
  end_user: number | null
  /** The how-manyth request of that operation by that end user, from 1; without one, of that operation. */
  ordinal: number
}

/** What can go wrong at a position. */
export interface Hazard {
  /** `reset-after-broadcast` */
  id: string
  /** "reset after broadcast" */
  title: string
  /** Without where it strikes. */
  rule: Omit<FaultRule, 'match' | 'skip' | 'times' | 'probability'>
}

/** One fault that strikes one request. In files and reports these are called `harms`. */
export interface PlannedStrike {
  position: RequestPosition
  hazard: Hazard
}

/** One run of the command, and what is done to it. */
export interface Trial {
  /** `deposit#2@alice reset-after-broadcast`; the same in every exploration of this command. */
  id: string
  harms: readonly PlannedStrike[]
}

/**
 * What becomes of a command that something was done to, the worst first: what becomes of the worst of its operations (`OUTCOMES` of the
 * oracle), or else: `errored`: the sandbox itself failed. `not_exercised`: a fault never struck. `survived`: every operation was carried
 * out and its client knows, and the money is as without faults.
 */
export const TRIAL_OUTCOMES = [
  ...outcomesOf(['critical', 'serious']),
  'errored',
  ...outcomesOf(['inconclusive', 'review']),
  'not_exercised',
  ...outcomesOf(['warning', 'note']),
  'survived',
] as const

/** See {@link TRIAL_OUTCOMES}. */
export type TrialOutcome = Exclude<OutcomeId, 'told' | 'found' | 'misled'> | 'errored' | 'not_exercised' | 'survived'

function outcomesOf(levels: readonly Level[]): TrialOutcome[] {
  const ids = Object.keys(OUTCOMES) as OutcomeId[]
  return ids.filter((id) => levels.includes(OUTCOMES[id].level)) as TrialOutcome[]
}

/** A finding that failed in a trial: why it came out as it did. */
export interface Explanation {
  id: string
  title: string
  explanation: string
  /** What to do about it. */
  fix: string
}

/** What a trial came to. */
export interface TrialResult {
  trial: Trial
  outcome: TrialOutcome
  /** What that costs: an operation of a portfolio is one step milder than one of money. */
  level: Level
  /** What happened to which operation, whose money is where, or else what was seen. One at least. */
  sentences: string[]
  /** Those that are not as without faults, the worst first. */
  operations: OperationOutcome[]
  /** Findings that failed, the gravest first. */
  findings: Explanation[]
  /** `0`, `1`, `SIGKILL`, `timeout`: how the command ended. */
  end: string
  /** Of the command, in milliseconds. */
  took_ms: number
  /** What the sandbox took beside it. */
  overhead_ms: number
  /** A command line that does it again. */
  repeat: string
  /** Of a random schedule that failed, what is left when nothing can be left out. */
  smallest?: Smallest
}

/** The fewest faults of a schedule that still give the same outcome. */
export interface Smallest {
  harms: readonly PlannedStrike[]
  /** True if it is known that none of them can be left out. */
  minimal: boolean
  /** The scenario file that has them. */
  file: string
}

/** The command without any fault. */
export interface BaselineSummary {
  exchanges: number
  positions: number
  /** Of the command, in milliseconds: each of the runs. */
  took_ms: number[]
  /** How the runs differed; null when they did not. */
  difference: string | null
  /** Names of processes that the command left running each time, and that were ended. */
  left_behind: string[]
  /** How many Idempotency-Keys both runs used. */
  shared_keys: number
}

/** All that was found out about a command: what `explore` writes, and every form of its report is made from. */
export interface Exploration {
  /** Of the sandbox. */
  version: string
  /** As words. */
  command: readonly string[]
  seed: number
  /** Moment at which the clock of every run stands, ISO 8601. */
  clock: string
  /** ISO 8601 UTC, real time. */
  created_at: string
  baseline: BaselineSummary
  /** In the order of the plan. */
  results: TrialResult[]
  /** Trials that were planned and not tried, and why: `--max-runs`, `--budget`, an interruption. */
  untried: { trials: Trial[]; reason: string } | null
  /** Milliseconds from the first run's beginning to the last one's end. */
  took_ms: number
  /** How many runs at a time. */
  jobs: number
}
