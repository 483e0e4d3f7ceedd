import type { ControlClient } from '../control/client.ts'
import type { ActiveFault, AnsweredConclusion, Conclusion } from '../control/contract.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { judgeOperations } from '../oracle/judge-operations.ts'
import type { CommandEnding, OutcomeId } from '../oracle/outcome.ts'
import type { Evidence } from '../verdict/finding.ts'
import { codeOfEnd } from './command-end.ts'
import { CLOSING_MS, type CommandEnd, type CommandTerms, runCommand } from './run-command.ts'

/** State of a namespace after the command has ended and the transfers under way have settled. */
export type Aftermath = AnsweredConclusion

/** The client of a namespace, as far as its end is concerned. */
export type Concluding = Pick<ControlClient, 'conclude'>

/** Removes all faults, waits for the transfers under way, and reads the evidence. */
export async function aftermathOf(client: Concluding, end: CommandEnd, clock: SandboxClock): Promise<Aftermath> {
  await clock.sleep(CLOSING_MS)
  return client.conclude(endingOf(end))
}

/** For people: the number of transfers whose outcome nobody knows. */
export function unsettledInWords(count: number): string {
  const what = count === 1 ? 'A transfer was' : `${count} transfers were`
  const whose = count === 1 ? 'it' : 'them'
  return `${what} still under way ten seconds after your command ended: nothing is known of ${whose} yet.`
}

/** How a command ended, in the oracle's words. */
export function endingOf(end: CommandEnd): CommandEnding {
  if (end.timedOut) return 'hung'
  return codeOfEnd(end) === 0 ? 'well' : 'failed'
}

/** How a start of the command ended, and what it left behind. */
export interface Start {
  end: CommandEnd
  aftermath: Aftermath
}

/** Options of further starts of the command. */
export interface Again extends CommandTerms {
  command: readonly string[]
  /** Maximum number of further starts. */
  restarts: number
}

/**
 * Starts a command again, in the same namespace and without faults, as long as it has left something open that it may settle then.
 * Resolves to the last start, which is the first one when nothing was open.
 */
export async function runAgain(client: Concluding, first: Start, terms: Again): Promise<Start> {
  const { command, restarts, interruption, clock } = terms
  let last = first
  for (let again = 0; again < restarts && isLeftOpen(last.aftermath) && !interruption.asked.aborted; again++) {
    const end = await runCommand(command, terms)
    last = { end, aftermath: await aftermathOf(client, end, clock) }
  }
  return last
}

/** @returns true if another start of the command may settle something */
export function isLeftOpen({ evidence }: Aftermath): boolean {
  return judgeOperations(evidence).some(({ outcome }) => REOPENED.includes(outcome))
}

/** Outcomes that the command may put right when it is started again. */
const REOPENED: readonly OutcomeId[] = ['untold', 'left_open', 'not_asked_for']

/** Number of the last exchange on record: later exchanges belong to a later start. */
export function lastNumber({ exchanges }: Pick<Evidence, 'exchanges'>): number {
  return exchanges.at(-1)?.number ?? 0
}

/** @returns true if an exchange shows that the fault has struck; the list of rules does not, since a rule may have been removed before */
export function hasStruck(id: string, { kept, exchanges }: Pick<Evidence, 'kept' | 'exchanges'>): boolean {
  return [...kept, ...exchanges].some(({ faults }) => faults.some((fault) => fault.id === id))
}

/** Reasons why a run must not pass, whatever its report shows, a sentence each; `rules` are the faults that it was to meet. */
export function reasonsAgainst({ evidence, unsettled }: Conclusion, rules: readonly ActiveFault[]): string[] {
  const { clearings, resets } = evidence.taken_away
  const isMissed = rules.some(({ id }) => !hasStruck(id, evidence))
  return [
    ...(unsettled > 0 ? [unsettledInWords(unsettled)] : []),
    ...(clearings + resets > 0 && isMissed ? [FAULTS_TAKEN_AWAY] : []),
  ]
}

/** For people: the command removed the faults that it was to meet. */
export const FAULTS_TAKEN_AWAY =
  'Your suite takes faults away (DELETE …/faults or POST …/reset of the control interface): let it leave them alone while exec or explore runs it.'
