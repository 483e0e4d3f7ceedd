import { BooksError } from '../books/books.ts'
import type { ActiveFault, FaultRule } from '../control/contract.ts'
import { reportOn } from '../control/report-of.ts'
import { SandboxClock } from '../domain/clock.ts'
import type { SandboxOptions } from '../options.ts'
import type { SandboxRecord } from '../running/sandbox-record.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import type { Evidence } from '../verdict/finding.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import type { Report } from '../verdict/report.ts'
import { version } from '../version.ts'
import { aftermathOf, hasStruck, reasonsAgainst, runAgain } from './aftermath.ts'
import { endInWords } from './command-end.ts'
import { commandEnvironment, type Rename } from './command-environment.ts'
import { type Astray, openGround } from './ground.ts'
import { runBooks } from './run-books.ts'
import { type CommandEnd, type CommandStdio, type Interruption, runBefore, runCommand } from './run-command.ts'

/** The command, and the sandbox that it is run against. */
export interface RunTerms {
  command: readonly string[]
  /** Run once before the command, with the same environment; undefined for nothing. */
  before?: string | undefined
  /** Undefined for none. */
  scenario: Scenario | undefined
  faults: readonly FaultRule[]
  /** Findings that must be passed, beside those of the scenario. */
  required: readonly FindingId[]
  renames: readonly Rename[]
  /** Options of every sandbox, except its address. */
  options: SandboxOptions
  /** The sandbox to run it within; undefined for sandboxes of its own. */
  host?: SandboxRecord | undefined
  /** The caller's environment. */
  env: NodeJS.ProcessEnv
  /** Time limit of the command in milliseconds; undefined for no limit. */
  timeout: number | undefined
  /** Maximum number of further starts when the command has left something open; default: 0. */
  restarts?: number | undefined
  /** Run by the shell when all is settled; prints what the application believes. Undefined for none. */
  books?: string | undefined
  interruption: Interruption
  /** Called when the sandbox is there and the command begins, and when the command has ended. */
  phase?(phase: 'begun' | 'ended'): void
  /** True to include the trace in the result. */
  traced?: boolean
}

/** Shows which faults struck which exchanges. */
export interface RunTrace extends Pick<Evidence, 'exchanges'> {
  /** Rules with their ids. */
  rules: readonly ActiveFault[]
  /** Names of end users that exist in every run. */
  endUsers: readonly string[]
}

/** One command, run to its end against a sandbox of its own. */
export interface Run {
  scenario: Scenario | undefined
  /** How `--before` ended, if it failed: the command was not run then. */
  before?: CommandEnd | undefined
  /** End of the last start, or of `--before` when that failed. */
  end: CommandEnd
  /** Duration of the command's first start, in milliseconds. */
  took: number
  report: Report
  /** Number of namespaces that the command made beside its own. */
  otherNamespaces: number
  /** Requests that came meanwhile to the sandbox that it was run within. */
  astray?: Astray | undefined
  /** Faults that were asked for one by one and never struck. */
  missed: readonly FaultRule[]
  /** Why the books of the application cannot be used. */
  unusableBooks?: BooksError | undefined
  /** Set if `traced`. */
  trace?: RunTrace
}

/**
 * Opens a sandbox on a free port, within another one or started for it, adds the faults, runs the command, judges its requests, and stops the sandbox. Resolves
 * to undefined when it was interrupted before the command began. Throws whatever prevented the start.
 */
export async function runAgainstSandbox(terms: RunTerms, stdio: CommandStdio): Promise<Run | undefined> {
  const { scenario, faults, interruption } = terms
  const clock = new SandboxClock()
  const ground = await openGround(terms.options, terms.host)
  try {
    const { client } = ground
    const given = scenario ? (await client.startScenario(scenario)).faults : []
    const added = faults.length > 0 ? await client.addFaults(faults) : []
    const credentials = await client.credentials()
    const seen = commandEnvironment(terms.env, credentials, terms.renames)
    if (interruption.asked.aborted) return undefined
    const running = { ...terms, env: seen, stdio, clock }
    const began = clock.wallNow()
    terms.phase?.('begun')
    const before = await runBefore(terms.before, running)
    const ended = before ?? (await runCommand(terms.command, running))
    const took = clock.wallNow() - began
    terms.phase?.('ended')
    const first = { end: ended, aftermath: await aftermathOf(client, ended, clock) }
    const restarts = before ? 0 : (terms.restarts ?? 0)
    const { end, aftermath } = await runAgain(client, first, { ...running, restarts })
    const { evidence } = aftermath
    const astray = await ground.astray()
    // Its requests come too late to be evidence.
    const books = await runBooks(before ? undefined : terms.books, { ...running, client, facts: evidence })
    const unusableBooks = books instanceof BooksError ? books : undefined
    const missed = (rules: readonly ActiveFault[]) => rules.filter(({ id }) => !hasStruck(id, evidence))
    const unprepared = before ? [`--before failed: ${endInWords(before)}.`] : []
    const reasons = [...unprepared, ...reasonsAgainst(aftermath, [...given, ...added])]
    const report = await reportOn(evidence, {
      version,
      seed: credentials.seed,
      scenario,
      required: terms.required,
      reasons: unusableBooks ? [...reasons, `${unusableBooks.message}.`] : reasons,
      books,
    })
    const endUsers = credentials.tenants.flatMap(({ end_users }) => end_users)
    const trace = { exchanges: evidence.exchanges, rules: first.aftermath.rules, endUsers }
    const { other_namespaces: otherNamespaces } = aftermath
    const run = { scenario, before, end, took, report, otherNamespaces, missed: missed(added), astray, unusableBooks }
    return { ...run, ...(terms.traced && { trace }) }
  } finally {
    await ground.stop()
  }
}
