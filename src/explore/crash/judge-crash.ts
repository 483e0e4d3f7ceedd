import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import type { CommandEnd } from '../../exec/run-command.ts'
import { LEVELS, type OperationOutcome, type OutcomeId } from '../../oracle/outcome.ts'
import type { TrialOutcome } from '../exploration.ts'
import type { Crashed } from '../run/play-command.ts'

/** Outcomes of an operation that moved nothing, and was not refused for good. */
const UNDONE: readonly OutcomeId[] = ['gave_up', 'gave_up_looked', 'put_off', 'not_asked_for', 'stopped']
/** Among those: the command never came to it. */
const NEVER_SENT: readonly OutcomeId[] = ['not_asked_for', 'stopped']
/** Outcomes of an operation that moved money and may be asked for again. */
const OPEN: readonly OutcomeId[] = ['left_open']

/** How the last start of a killed command ended, or how the command that drives a killed server did. */
type LastStart = Pick<Crashed, 'recovers' | 'drives' | 'note'> & { end: CommandEnd }

/**
 * The outcomes of operations after a kill and the starts that followed, the worst first. A command that ended well was done: it has left
 * undone what did not move. One that failed has reported that it needs help; a command that drives a server reports that for itself only.
 */
export function afterCrash(operations: readonly OperationOutcome[], last: LastStart): OperationOutcome[] {
  const { end, recovers, drives = false } = last
  const isWell = codeOfEnd(end) === 0
  const harmless = drives ? UNDONE : [...UNDONE, ...OPEN]
  const judged = operations.flatMap((operation): OperationOutcome[] => {
    const { outcome, type, sentence } = operation
    if (recovers && NEVER_SENT.includes(outcome)) return []
    if (isWell && UNDONE.includes(outcome)) {
      const level = type === 'create_portfolio' ? 'serious' : 'critical'
      return [{ ...operation, level, sentence: `${sentence} ${storyOf(last)}: it has left that undone.` }]
    }
    if (!isWell && harmless.includes(outcome))
      return [{ ...operation, level: 'warning', sentence: `${sentence} ${storyOf(last)}.` }]
    return [operation]
  })
  return judged.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

function storyOf({ end, drives = false, note }: LastStart): string {
  const aside = note === undefined ? '' : ` (${note})`
  const isWell = codeOfEnd(end) === 0
  if (drives)
    return `The server was killed and started again${aside}, and ${endInWords(end, 'the command that drives it')}`
  if (isWell) return `The command was killed, and ended well when it was started again${aside}`
  return `The command was killed, and reported that it needs help when it was started again: ${endInWords(end)}${aside}`
}

/** The outcome of a run in which the command was killed, by that of its worst operation as {@link afterCrash} has it. */
export function crashOutcome({ outcome, level }: OperationOutcome): TrialOutcome {
  if (UNDONE.includes(outcome)) return level === 'warning' ? 'gave_up_safely' : 'left_undone'
  if (OPEN.includes(outcome) && level === 'warning') return 'gave_up_safely'
  return outcome as TrialOutcome
}
