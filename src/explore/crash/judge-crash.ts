import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import type { CommandEnd } from '../../exec/run-command.ts'
import { LEVELS, type OperationOutcome, type OutcomeId } from '../../oracle/outcome.ts'
import type { TrialOutcome } from '../exploration.ts'

/** Outcomes of an operation that moved nothing, and was not refused for good. */
const UNDONE: readonly OutcomeId[] = ['gave_up', 'gave_up_looked', 'put_off', 'not_asked_for', 'stopped']
/** Among those: the command never came to it. */
const NEVER_SENT: readonly OutcomeId[] = ['not_asked_for', 'stopped']
/** Outcomes of an operation that moved money and may be asked for again. */
const OPEN: readonly OutcomeId[] = ['left_open']

/** How the last start of a killed command ended. */
interface LastStart {
  end: CommandEnd
  /** True if another command than the killed one was started: it need not do what was never asked for. */
  recovers: boolean
}

/**
 * The outcomes of operations after a kill and the starts that followed, the worst first. A command that ended well was done: it has left
 * undone what did not move. One that failed has reported that it needs help.
 */
export function afterCrash(operations: readonly OperationOutcome[], { end, recovers }: LastStart): OperationOutcome[] {
  const isWell = codeOfEnd(end) === 0
  const judged = operations.flatMap((operation): OperationOutcome[] => {
    const { outcome, type, sentence } = operation
    if (recovers && NEVER_SENT.includes(outcome)) return []
    if (isWell && UNDONE.includes(outcome)) {
      const level = type === 'create_portfolio' ? 'serious' : 'critical'
      const left = `${sentence} The command was killed, and ended well when it was started again: it has left that undone.`
      return [{ ...operation, level, sentence: left }]
    }
    if (!isWell && [...UNDONE, ...OPEN].includes(outcome)) {
      const help = `${sentence} The command was killed, and reported that it needs help when it was started again (${endInWords(end)}).`
      return [{ ...operation, level: 'warning', sentence: help }]
    }
    return [operation]
  })
  return judged.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

/** The outcome of a run in which the command was killed, by that of its worst operation as {@link afterCrash} has it. */
export function crashOutcome({ outcome, level }: OperationOutcome): TrialOutcome {
  if (UNDONE.includes(outcome)) return level === 'warning' ? 'gave_up_safely' : 'left_undone'
  if (OPEN.includes(outcome) && level === 'warning') return 'gave_up_safely'
  return outcome as TrialOutcome
}
