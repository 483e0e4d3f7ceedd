import { ControlClient } from '../../control/client.ts'
import type { ActiveFault, AuditReport, FaultRule, Report } from '../../control/contract.ts'
import { reportOn } from '../../control/report-of.ts'
import { SandboxClock } from '../../domain/clock.ts'
import type { Money } from '../../domain/money.ts'
import { aftermathOf, hasStruck, lastNumber, runAgain } from '../../exec/aftermath.ts'
import { commandEnvironment, type Rename } from '../../exec/command-environment.ts'
import { type CommandEnd, type CommandStdio, type Interruption, runBefore, runCommand } from '../../exec/run-command.ts'
import type { SandboxOptions } from '../../options.ts'
import { auditedMoneyOf } from '../../sandbox/money-of.ts'
import type { Namespace } from '../../sandbox/namespace.ts'
import { Sandbox } from '../../sandbox/sandbox.ts'
import { abortController } from '../../support/waiting.ts'
import type { Evidence } from '../../verdict/finding.ts'
import { version } from '../../version.ts'

/** Milliseconds for a chain that does not answer when the money is to be read. */
const OUTAGE_MS = 60_000

/** What every run has in common. */
export interface ExplorationRunTerms {
  command: readonly string[]
  /** Run before each, with the same environment; undefined for nothing. */
  before: string | undefined
  renames: readonly Rename[]
  /** The caller's environment. */
  env: NodeJS.ProcessEnv
  interruption: Interruption
  /** How often the command is started once more when it has left something open; default: never. */
  restarts?: number | undefined
}

/** What differs from run to run. */
export interface RunWish {
  faults: readonly FaultRule[]
  /** Milliseconds of real time after which faults that have struck are taken away; 0: they stay. */
  holding: number
  stdio: CommandStdio
  /** Milliseconds; undefined for no limit. */
  timeout: number | undefined
}

/** One run of the command, and where it left the money. */
export interface Observation {
  /** How `--before` ended, when it failed: the command was not run then. */
  before: CommandEnd | undefined
  end: CommandEnd
  /** Of the command, in milliseconds. */
  took: number
  /** What the sandbox took beside it. */
  overhead: number
  evidence: Evidence
  /** How many transfers were under way all the same, those included that wait for their turn and are not signed. */
  unsettled: number
  money: Money
  audit: AuditReport
  report: Report
  /** Which of the faults struck, by the exchanges' own word, in their order. */
  struck: readonly boolean[]
  /** True if the command took faults away, or reset the sandbox. */
  takenAway: boolean
  /** The last exchange of the command's first start, when it was started once more. */
  restarted: number | undefined
}

/** One sandbox for many runs, each in a namespace of its own: that takes a fortieth of the time a sandbox takes to start. */
export class ExplorationSandbox {
  readonly #sandbox: Sandbox
  readonly #client: ControlClient
  readonly #clock = new SandboxClock()

  private constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
    const { controlToken } = sandbox.options
    this.#client = new ControlClient(sandbox.baseUrl, { controlToken, fetch: sandbox.fetch })
  }

  /** Throws whatever keeps a sandbox from starting. */
  static async open(options: SandboxOptions): Promise<ExplorationSandbox> {
    const sandbox = await Sandbox.listen({ ...options, port: 0, host: '127.0.0.1' })
    try {
      await sandbox.ready
      return new ExplorationSandbox(sandbox)
    } catch (error) {
      await sandbox.stop()
      throw error
    }
  }

  /** True if a transfer is confirmed only after a while: it never would be while the clock stands still. */
  get waitsForConfirmation(): boolean {
    return this.#sandbox.namespace.confirmationDelay.max > 0
  }

  /** True if there is a market that faults can change: those of forks belong to others. */
  get ownsMarkets(): boolean {
    return this.#sandbox.namespace.fixture.chains.some(({ fork }) => fork === undefined)
  }

  get seed(): number {
    return this.#sandbox.namespace.seed
  }

  /** Runs the command in a fresh namespace. Resolves to undefined when it was interrupted. Throws CommandStartError. */
  async run(terms: ExplorationRunTerms, wish: RunWish): Promise<Observation | undefined> {
    const began = this.#clock.wallNow()
    const credentials = await this.#client.createNamespace({})
    const { namespace: name } = credentials
    const client = this.#client.in(name)
    try {
      if (this.waitsForConfirmation) await client.moveClock({ freeze: false })
      const rules = wish.faults.length > 0 ? await client.addFaults(wish.faults) : []
      const env = commandEnvironment(terms.env, credentials, terms.renames)
      const commandTerms = { env, ...wish, interruption: terms.interruption, clock: this.#clock }
      if (terms.interruption.asked.aborted) return undefined
      const started = this.#clock.wallNow()
      const before = await runBefore(terms.before, commandTerms)
      const ran = this.#clock.wallNow()
      const over = abortController()
      const letting = wish.holding > 0 ? letGoInTime(client, wish.holding, this.#clock, over.signal) : undefined
      letting?.catch(() => undefined) // below it rejects with the same
      const end = before ?? (await runCommand(terms.command, commandTerms).finally(() => over.abort()))
      await letting
      const ended = this.#clock.wallNow()
      if (terms.interruption.asked.aborted) return undefined
      const namespace = await this.#sandbox.namespaces.get(name)
      const first = { end, aftermath: await aftermathOf(namespace, end, this.#clock) }
      const last = before
        ? first
        : await runAgain(namespace, first, { ...terms, ...commandTerms, restarts: terms.restarts ?? 0 })
      const seen = await this.#look(namespace, last.aftermath.evidence, rules)
      const restarted = last === first ? undefined : lastNumber(first.aftermath.evidence)
      const overhead = started - began + (this.#clock.wallNow() - ended)
      const { unsettled } = last.aftermath
      return { ...seen, unsettled, before, end: last.end, restarted, took: ended - ran, overhead }
    } finally {
      await this.#client.deleteNamespace(name)
    }
  }

  /** How many namespaces commands have made of their own. */
  get madeByCommands(): number {
    return this.#sandbox.namespaces.madeByOthers
  }

  stop(): Promise<void> {
    return this.#sandbox.stop()
  }

  /** Where the money is, and what is to be said of the client. */
  async #look(namespace: Namespace, evidence: Evidence, rules: readonly ActiveFault[]) {
    const { clearings, resets } = evidence.taken_away
    const report = await reportOn(evidence, { version, seed: namespace.seed, scenario: undefined })
    return {
      evidence,
      report,
      struck: rules.map(({ id }) => hasStruck(id, evidence)),
      takenAway: clearings + resets > 0,
      ...(await auditedMoneyOf(namespace, OUTAGE_MS)),
    }
  }
}

/** Milliseconds between two looks at what has struck. */
const PAUSE_MS = 100

/**
 * Takes faults away so many milliseconds of real time after they have struck, until the signal is aborted. The clock of a run
 * stands still, so that no yield is earned in one that is not earned in another; nothing that waits on it would come to its end.
 */
async function letGoInTime(client: ControlClient, held: number, clock: SandboxClock, over: AbortSignal): Promise<void> {
  const since = new Map<string, number>()
  for (;;) {
    await clock.wallSleep(PAUSE_MS, over)
    if (over.aborted) return
    const now = clock.wallNow()
    for (const { id, hits } of await client.faults()) {
      if (hits === 0) continue
      const struck = since.get(id) ?? now
      since.set(id, struck)
      if (now - struck >= held) await client.removeFault(id)
    }
  }
}
