import type { TrialOutcome } from '../explore/exploration.ts'
import { type Level, OUTCOMES } from '../oracle/outcome.ts'

/** Outcomes that only a run with a fault has. */
const OF_RUNS: Record<string, Level> = {
  silently_wrong: 'critical',
  noticed_too_late: 'serious',
  gave_up_safely: 'warning',
  errored: 'inconclusive',
  not_exercised: 'none',
  survived: 'ok',
}

/** What an outcome of a run with a fault costs. */
export function levelOfTrial(outcome: TrialOutcome): Level {
  const levels: Record<string, { level: Level } | undefined> = OUTCOMES
  return levels[outcome]?.level ?? OF_RUNS[outcome] ?? 'inconclusive'
}

/** @returns true if a client with it is not fit for production */
export function isBad(level: Level): boolean {
  return level === 'critical' || level === 'serious'
}

/** @returns true if somebody has to look before the client can be said to be right */
export function isOpen(level: Level): boolean {
  return level === 'review' || level === 'inconclusive'
}
