import type { ActiveFault } from '../control/contract.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { judgeOperations } from '../oracle/judge-operations.ts'
import type { CommandEnding, OutcomeId } from '../oracle/outcome.ts'
import { evidenceOf } from '../sandbox/evidence-of.ts'
import { unsettledAfter } from '../sandbox/money-of.ts'
import type { Namespace } from '../sandbox/namespace.ts'
import type { Evidence } from '../verdict/finding.ts'
import { codeOfEnd } from './command-end.ts'
import { CLOSING_MS, type CommandEnd, type CommandTerms, runCommand } from './run-command.ts'

/** Milliseconds for transfers that a command has left under way. */
const SETTLING_MS = 10_000

/** What a command has left behind when it has ended and nothing is under way any more. */
export interface Aftermath {
  evidence: Evidence
  /** The rules that were in force when it ended. */
  rules: readonly ActiveFault[]
  /** How many transfers are under way all the same. */
  unsettled: number
}

/** Lets go of what faults hold up, waits for what is under way, and reads what became of it. */
export async function aftermathOf(namespace: Namespace, end: CommandEnd, clock: SandboxClock): Promise<Aftermath> {
  await clock.sleep(CLOSING_MS)
  const { faults } = namespace.services
  const rules = faults.list()
  faults.clear()
  const unsettled = await unsettledAfter(namespace, SETTLING_MS)
  return { rules, unsettled, evidence: await evidenceOf(namespace, { ended: true, end: endingOf(end) }) }
}

/** For people: how many transfers nobody can say anything of. */
export function unsettledInWords(count: number): string {
  const what = count === 1 ? 'A transfer was' : `${count} transfers were`
  const whose = count === 1 ? 'it' : 'them'
  return `${what} still under way ten seconds after your command ended: nothing is known of ${whose} yet.`
}

/** How a command ended, as the oracle has it. */
export function endingOf(end: CommandEnd): CommandEnding {
  if (end.timedOut) return 'hung'
  return codeOfEnd(end) === 0 ? 'well' : 'failed'
}

/** How a start of the command ended, and what it left behind. */
export interface Start {
  end: CommandEnd
  aftermath: Aftermath
}

/** What a command is started once more with. */
export interface Again extends CommandTerms {
  command: readonly string[]
  /** How often at most. */
  restarts: number
}

/**
 * Starts a command once more, in the same namespace and without faults, as long as it has left open what it may settle then. Resolves to
 * its last start: the first one when nothing was open.
 */
export async function runAgain(namespace: Namespace, first: Start, terms: Again): Promise<Start> {
  const { command, restarts, interruption, clock } = terms
  let last = first
  for (let again = 0; again < restarts && isLeftOpen(last.aftermath) && !interruption.asked.aborted; again++) {
    const end = await runCommand(command, terms)
    last = { end, aftermath: await aftermathOf(namespace, end, clock) }
  }
  return last
}

function isLeftOpen({ evidence }: Aftermath): boolean {
  return judgeOperations(evidence).some(({ outcome }) => REOPENED.includes(outcome))
}

/** Outcomes that the command may put right when it is started once more. */
const REOPENED: readonly OutcomeId[] = ['untold', 'left_open', 'not_asked_for']

/** The last exchange on record: what comes after it is of a later start. */
export function lastNumber({ exchanges }: Pick<Evidence, 'exchanges'>): number {
  return exchanges.at(-1)?.number ?? 0
}

/** @returns true if the fault has struck, by the exchanges' own word: a rule that is gone may have been taken away before */
export function hasStruck(id: string, { kept, exchanges }: Pick<Evidence, 'kept' | 'exchanges'>): boolean {
  return [...kept, ...exchanges].some(({ faults }) => faults.some((fault) => fault.id === id))
}

/** Why a run is not to be passed, whatever its report shows; `rules` are those that it was to meet. A sentence each. */
export function reasonsAgainst({ evidence, unsettled }: Aftermath, rules: readonly ActiveFault[]): string[] {
  const { clearings, resets } = evidence.taken_away
  const isMissed = rules.some(({ id }) => !hasStruck(id, evidence))
  return [
    ...(unsettled > 0 ? [unsettledInWords(unsettled)] : []),
    ...(clearings + resets > 0 && isMissed ? [FAULTS_TAKEN_AWAY] : []),
  ]
}

/** For people: what a command did to the faults that it was to meet. */
export const FAULTS_TAKEN_AWAY =
  'Your suite takes faults away (DELETE …/faults or POST …/reset of the control interface): let it leave them alone while exec or explore runs it.'
