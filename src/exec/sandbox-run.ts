import { ControlClient } from '../control/client.ts'
import type { ActiveFault, FaultRule } from '../control/contract.ts'
import { reportOn } from '../control/report-of.ts'
import { SandboxClock } from '../domain/clock.ts'
import type { SandboxOptions } from '../options.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import type { Evidence } from '../verdict/finding.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import type { Report } from '../verdict/report.ts'
import { version } from '../version.ts'
import { aftermathOf, hasStruck, reasonsAgainst, runAgain } from './aftermath.ts'
import { endInWords } from './command-end.ts'
import { commandEnvironment, type Rename } from './command-environment.ts'
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
  /** The caller's environment. */
  env: NodeJS.ProcessEnv
  /** Time limit of the command in milliseconds; undefined for no limit. */
  timeout: number | undefined
  /** Maximum number of further starts when the command has left something open; default: 0. */
  restarts?: number | undefined
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
  /** Faults that were asked for one by one and never struck. */
  missed: readonly FaultRule[]
  /** Set if `traced`. */
  trace?: RunTrace
}

/**
 * Starts a sandbox on a free port, adds the faults, runs the command, judges its requests, and stops the sandbox. Resolves
 * to undefined when it was interrupted before the command began. Throws whatever prevented the start.
 */
export async function runAgainstSandbox(terms: RunTerms, stdio: CommandStdio): Promise<Run | undefined> {
  const { scenario, faults, interruption } = terms
  const clock = new SandboxClock()
  // Every run has a port of its own: so the requests of a wrongly configured client end up in its report all the same.
  const sandbox = await Sandbox.listen({ ...terms.options, port: 0, host: '127.0.0.1' })
  try {
    await sandbox.ready
    const { controlToken } = sandbox.options
    const client = new ControlClient(sandbox.baseUrl, { controlToken, fetch: sandbox.fetch })
    const given = scenario ? (await client.startScenario(scenario)).faults : []
    const added = faults.length > 0 ? await client.addFaults(faults) : []
    const credentials = await sandbox.credentials()
    const seen = commandEnvironment(terms.env, credentials, terms.renames)
    if (interruption.asked.aborted) return undefined
    const { namespace } = sandbox
    const running = { ...terms, env: seen, stdio, clock }
    const began = clock.wallNow()
    terms.phase?.('begun')
    const before = await runBefore(terms.before, running)
    const ended = before ?? (await runCommand(terms.command, running))
    const took = clock.wallNow() - began
    terms.phase?.('ended')
    const first = { end: ended, aftermath: await aftermathOf(namespace, ended, clock) }
    const restarts = before ? 0 : (terms.restarts ?? 0)
    const { end, aftermath } = await runAgain(namespace, first, { ...running, restarts })
    const { evidence } = aftermath
    const missed = (rules: readonly ActiveFault[]) => rules.filter(({ id }) => !hasStruck(id, evidence))
    const unprepared = before ? [`--before failed: ${endInWords(before)}.`] : []
    const reasons = [...unprepared, ...reasonsAgainst(aftermath, [...given, ...added])]
    const report = await reportOn(evidence, {
      version,
      seed: namespace.seed,
      scenario,
      required: terms.required,
      reasons,
    })
    const endUsers = credentials.tenants.flatMap(({ end_users }) => end_users)
    const trace = { exchanges: evidence.exchanges, rules: first.aftermath.rules, endUsers }
    const otherNamespaces = sandbox.namespaces.madeByOthers
    const run = { scenario, before, end, took, report, otherNamespaces, missed: missed(added) }
    return { ...run, ...(terms.traced && { trace }) }
  } finally {
    await sandbox.stop()
  }
}
