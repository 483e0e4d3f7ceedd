import type { FaultRule } from '../control/contract.ts'
import type { Operation } from '../domain/operations.ts'
import { type Level, type OperationOutcome, OUTCOMES, type OutcomeId } from '../oracle/outcome.ts'
import type { ExchangeLine } from '../verdict/report.ts'

/**
 * A point where something can go wrong: one exchange of the command's unharmed run, named so that the next run has the same one, thus
 * never by a request id, a key or a time.
 */
export interface RequestPosition {
  operation: Operation
  /** Slug; null when the whole run is of one tenant. */
  tenant: string | null
  /** Name of the end user if it is the same in every run; null for an operation without one, and for a name that changes. */
  external_id: string | null
  /** Ordinal (from 1) of the end user, by first appearance; null for an operation without one. */
  end_user: number | null
  /** Ordinal (from 1) among the requests of that operation and end user; without an end user, of that operation. */
  ordinal: number
}

/** A kind of failure that can be caused at a position. */
export interface Hazard {
  /** `reset-after-broadcast` */
  id: string
  /** "reset after broadcast" */
  title: string
  /** The fault rule without its place; null where the command is killed, or runs beside a second process, instead. */
  rule: Omit<FaultRule, 'match' | 'skip' | 'times' | 'probability'> | null
}

/** One fault that strikes one request. In files and reports these are called `harms`. */
export interface PlannedStrike {
  position: RequestPosition
  hazard: Hazard
}

/** One run of the command, and the faults in it. */
export interface Trial {
  /** `deposit#2@alice reset-after-broadcast`; the same in every exploration of this command. */
  id: string
  harms: readonly PlannedStrike[]
}

/**
 * Outcomes of a run with faults, the worst first: that of its worst operation (`OUTCOMES` of the oracle), or one of these. `left_undone`:
 * the command was killed, ended well when it was started again, and has moved less than without that. `gave_up_safely`: it was killed, or ran
 * beside a second process, and reported by its exit code that it needs help; no money is elsewhere. `errored`:
 * the sandbox itself failed. `not_exercised`: a fault never struck. `survived`: every operation was carried out and its client knows,
 * and the money is the same as without faults; or `--books` has all of it as the ledger does.
 */
export const TRIAL_OUTCOMES = [
  ...outcomesOf(['critical']),
  'left_undone',
  ...outcomesOf(['serious']),
  'errored',
  ...outcomesOf(['inconclusive', 'review']),
  'not_exercised',
  'gave_up_safely',
  ...outcomesOf(['warning', 'note']),
  'survived',
] as const

/** See {@link TRIAL_OUTCOMES}. */
export type TrialOutcome =
  | Exclude<OutcomeId, 'told' | 'found' | 'booked' | 'misled'>
  | 'left_undone'
  | 'gave_up_safely'
  | 'errored'
  | 'not_exercised'
  | 'survived'

function outcomesOf(levels: readonly Level[]): TrialOutcome[] {
  const ids = Object.keys(OUTCOMES) as OutcomeId[]
  return ids.filter((id) => levels.includes(OUTCOMES[id].level)) as TrialOutcome[]
}

/** A finding that failed in a trial: it explains the outcome. */
export interface Explanation {
  id: string
  title: string
  explanation: string
  /** The remedy. */
  fix: string
}

/** The result of a trial. */
export interface TrialResult {
  trial: Trial
  outcome: TrialOutcome
  /** Severity: an operation of a portfolio is one step milder than one of money. */
  level: Level
  /** Sentences on each operation that went wrong and on the money, or other observations. At least one. */
  sentences: string[]
  /** Operations that differ from the run without faults, the worst first. */
  operations: OperationOutcome[]
  /** Findings that failed, the gravest first. */
  findings: Explanation[]
  /** How the command ended: `0`, `1`, `SIGKILL`, `timeout`. */
  end: string
  /** Duration of the command, in milliseconds. */
  took_ms: number
  /** Additional time of the sandbox, in milliseconds. */
  overhead_ms: number
  /** A command line that repeats the trial. */
  repeat: string
  /** For a random schedule that failed: its smallest failing part. */
  smallest?: Smallest
  /**
   * For a level worse than a note: requests of the operations that went wrong, and those that a fault struck, in the order of arrival, at
   * most 24. Results of earlier versions have none.
   */
  exchanges?: ExchangeLine[]
  /** For the same results: money that is not where it was without faults first, then that of the same end users; at most 24. */
  money?: TrialMoney[]
  /** With `--depth 2`: requests that the command asked because of the strike, at which a second one may strike. */
  further?: ReachedPlace[]
}

/** A request of a run, and facts about it that decide which hazards apply. */
export interface ReachedPlace {
  position: RequestPosition
  /** True if the exchange carried out a transfer. */
  transferred: boolean
  has_cursor: boolean
}

/** Deposits less withdrawals of one end user in one pool, in minor units. */
export interface TrialMoney {
  tenant: string
  /** Of this trial: it may be another one in the next. */
  external_id: string
  pool_id: string
  token_symbol: string
  token_decimals: number
  /** Before the command was run, from the fixture. */
  before_minor: string
  /** After the command without faults. */
  expected_minor: string
  is_minor: string
}

/** The fewest faults of a schedule that still give the same outcome. */
export interface Smallest {
  harms: readonly PlannedStrike[]
  /** True if it is known that none of them can be left out. */
  minimal: boolean
  /** Path of the scenario file with these faults. */
  file: string
}

/**
 * Outcomes of a run under another setting of the service, the worst first. `astray`: money is where it must not be. `hung`: the command was
 * not done in time. `breaks`: it ended with another code, or with other money. `errored`: the run says nothing. `untried`: it did not
 * take place. `not_met`: it ended as before, and never came to the point where the setting decides. `survived`: it came there, and ended as before.
 */
export const ASSUMPTION_OUTCOMES = ['astray', 'hung', 'breaks', 'errored', 'untried', 'not_met', 'survived'] as const

/** See {@link ASSUMPTION_OUTCOMES}. */
export type AssumptionOutcome = (typeof ASSUMPTION_OUTCOMES)[number]

/** The result of a run without faults under another setting of the service, where the specification leaves one open. */
export interface AssumptionResult extends Omit<TrialResult, 'trial' | 'outcome' | 'smallest' | 'further'> {
  /** `assumption transfer_status=201` */
  id: string
  /** `transfer_status`; `profile` for several at once. */
  setting: string
  /** As a fixture file writes it: `201`. */
  value: string
  /** One sentence: the service under it. */
  means: string
  outcome: AssumptionOutcome
}

/** Summary of the runs without any fault. */
export interface BaselineSummary {
  exchanges: number
  positions: number
  /** Duration of the command in each run, in milliseconds. */
  took_ms: number[]
  /** Difference between the runs; null for none. */
  difference: string | null
  /** Names of processes that the command left running each time; they were ended. */
  left_behind: string[]
  /** Number of Idempotency-Keys that both runs used. */
  shared_keys: number
}

/** The complete result of `explore`; every form of its report is made from it. */
export interface Exploration {
  /** Version of the sandbox. */
  version: string
  /** Words of the command. */
  command: readonly string[]
  seed: number
  /** Frozen time of the clock in every run, ISO 8601. */
  clock: string
  /** ISO 8601 UTC, real time. */
  created_at: string
  baseline: BaselineSummary
  /** In the order of the plan. */
  results: TrialResult[]
  /** Trials that were planned and not tried, and the reason: `--max-runs`, `--budget`, an interruption. */
  untried: { trials: Trial[]; reason: string } | null
  /** Reason why the command was never killed, although that was wished where it is possible; null where it was killed. Undefined: no wish. */
  not_restartable?: string | null
  /** With `--assumptions`: one for every other setting of the service. */
  assumptions?: AssumptionResult[]
  /** With `--depth 2`: pairs of strikes that later requests of the run without faults allow, and those that the first strikes led to. */
  pairs?: { possible: number; reached: number }
  /** Milliseconds from the first run's beginning to the last one's end. */
  took_ms: number
  /** Number of runs at a time. */
  jobs: number
}
