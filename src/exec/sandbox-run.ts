import { ControlClient } from '../control/client.ts'
import type { ActiveFault, FaultRule } from '../control/contract.ts'
import { SandboxClock } from '../domain/clock.ts'
import type { SandboxOptions } from '../options.ts'
import { evidenceOf } from '../sandbox/evidence-of.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import type { Evidence } from '../verdict/evidence.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import type { Report } from '../verdict/report.ts'
import { commandEnvironment, type Rename } from './command-environment.ts'
import type { Interruption } from './interruption.ts'
import { CLOSING_MS, type CommandEnd, type CommandStdio, runCommand } from './run-command.ts'

/** What is run, and against what. */
export interface RunTerms {
  command: readonly string[]
  /** Undefined for none. */
  scenario: Scenario | undefined
  faults: readonly FaultRule[]
  /** Findings that must be passed, beside those of the scenario. */
  required: readonly FindingId[]
  renames: readonly Rename[]
  /** Of every sandbox, but for its address. */
  options: SandboxOptions
  /** The caller's environment. */
  env: NodeJS.ProcessEnv
  /** Milliseconds for the command; undefined for no limit. */
  timeout: number | undefined
  interruption: Interruption
  /** Whether it is wanted which faults struck what. */
  traced?: boolean
}

/** Which faults struck what. */
export interface RunTrace extends Pick<Evidence, 'exchanges'> {
  /** By their ids. */
  rules: readonly ActiveFault[]
  /** Names of those that are there in every run. */
  endUsers: readonly string[]
}

/** One command, run to its end against a sandbox of its own. */
export interface Run {
  scenario: Scenario | undefined
  end: CommandEnd
  /** Of the command, in milliseconds. */
  took: number
  report: Report
  /** Where it was wanted. */
  trace?: RunTrace
}

/**
 * Starts a sandbox on a free port, makes it misbehave as asked, runs the command, judges what it sent, and stops the sandbox.
 * Resolves to undefined when it was interrupted before the command began. Throws whatever kept it from that.
 */
export async function runAgainstSandbox(terms: RunTerms, stdio: CommandStdio): Promise<Run | undefined> {
  const { command, scenario, faults, required, renames, env, timeout, interruption } = terms
  const clock = new SandboxClock()
  // Every run has a port of its own: what a wrongly configured client sends ends up in its report all the same.
  const sandbox = await Sandbox.listen({ ...terms.options, port: 0, host: '127.0.0.1' })
  try {
    await sandbox.ready
    const { controlToken } = sandbox.options
    const client = new ControlClient(sandbox.baseUrl, { controlToken, fetch: sandbox.fetch })
    if (scenario) await client.startScenario(scenario)
    if (faults.length > 0) await client.addFaults(faults)
    const seen = commandEnvironment(env, await sandbox.credentials(), renames)
    if (interruption.asked.aborted) return undefined
    const began = clock.wallNow()
    const end = await runCommand(command, { env: seen, stdio, timeout, interruption, clock })
    const took = clock.wallNow() - began
    await clock.sleep(CLOSING_MS)
    const trace = terms.traced ? { trace: await traceOf(sandbox, client) } : {}
    const require = [...(scenario?.expect.findings ?? []), ...required]
    return { scenario, end, took, report: await client.report({ ended: true, require }), ...trace }
  } finally {
    await sandbox.stop()
  }
}

async function traceOf(sandbox: Sandbox, client: ControlClient): Promise<RunTrace> {
  const { exchanges } = await evidenceOf(sandbox.namespace, { ended: true, end: null })
  const { tenants } = await sandbox.credentials()
  return { exchanges, rules: await client.faults(), endUsers: tenants.flatMap(({ end_users }) => end_users) }
}
