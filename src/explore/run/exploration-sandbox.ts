import type { ControlClient } from '../../control/client.ts'
import type { ActiveFault, AuditReport, FaultRule, Report } from '../../control/contract.ts'
import { reportOn } from '../../control/report-of.ts'
import { SandboxClock } from '../../domain/clock.ts'
import type { Money } from '../../domain/money.ts'
import { type Aftermath, aftermathOf, hasStruck, lastNumber, runAgain } from '../../exec/aftermath.ts'
import { commandEnvironment, type Rename } from '../../exec/command-environment.ts'
import { type Ground, openGround } from '../../exec/ground.ts'
import { type BooksAnswer, runBooks } from '../../exec/run-books.ts'
import { type CommandEnd, type CommandStdio, type Interruption, runBefore, runCommand } from '../../exec/run-command.ts'
import type { SandboxOptions } from '../../options.ts'
import type { SandboxRecord } from '../../running/sandbox-record.ts'
import { abortController } from '../../support/waiting.ts'
import type { Evidence } from '../../verdict/finding.ts'
import { version } from '../../version.ts'

/** Terms that all runs have in common. */
export interface ExplorationRunTerms {
  command: readonly string[]
  /** Run before each run of the command, with the same environment; undefined for nothing. */
  before: string | undefined
  renames: readonly Rename[]
  /** The caller's environment. */
  env: NodeJS.ProcessEnv
  interruption: Interruption
  /** Maximum number of further starts when the command has left something open; default: 0. */
  restarts?: number | undefined
  /** Run by the shell after each run, when all is settled; prints what the application believes. Undefined for none. */
  books?: string | undefined
}

/** Terms that differ from run to run. */
export interface RunWish {
  faults: readonly FaultRule[]
  /** Milliseconds of real time after which faults that have struck are removed; 0 for never. */
  holding: number
  stdio: CommandStdio
  /** Time limit in milliseconds; undefined for no limit. */
  timeout: number | undefined
}

/** Observations of one run of the command, and of its money. */
export interface Observation {
  /** How `--before` ended, if it failed: the command was not run then. */
  before: CommandEnd | undefined
  end: CommandEnd
  /** Duration of the command, in milliseconds. */
  took: number
  /** Additional time of the sandbox, in milliseconds. */
  overhead: number
  evidence: Evidence
  /** Number of transfers that were still under way at the end, including those not signed yet. */
  unsettled: number
  money: Money
  audit: AuditReport
  report: Report
  /** For each fault in order, true if an exchange shows that it struck. */
  struck: readonly boolean[]
  /** True if the command removed faults, or reset the sandbox. */
  takenAway: boolean
  /** Number of the last exchange of the command's first start, if it was started again. */
  restarted: number | undefined
  /** What the application believes, or why that cannot be used; undefined if it was not asked. */
  books?: BooksAnswer
}

/** One sandbox for many runs, each in a namespace of its own: that takes a fortieth of the time of starting a sandbox. */
export class ExplorationSandbox {
  readonly #ground: Ground
  readonly #clock = new SandboxClock()
  #madeByCommands = 0

  private constructor(
    ground: Ground,
    readonly seed: number,
  ) {
    this.#ground = ground
  }

  /** A sandbox of its own, or one within `host`. Throws the errors of a sandbox that cannot start. */
  static async open(options: SandboxOptions, host: SandboxRecord | undefined): Promise<ExplorationSandbox> {
    const ground = await openGround(options, host)
    try {
      const { seed } = await ground.client.credentials()
      return new ExplorationSandbox(ground, seed)
    } catch (error) {
      await ground.stop()
      throw error
    }
  }

  /** True if there is a market that faults can change: those of forks belong to others. */
  get ownsMarkets(): boolean {
    return this.#ground.ownsMarkets
  }

  /** Runs the command in a fresh namespace. Resolves to undefined when it was interrupted. Throws CommandStartError. */
  async run(terms: ExplorationRunTerms, wish: RunWish): Promise<Observation | undefined> {
    const began = this.#clock.wallNow()
    const credentials = await this.#ground.client.createNamespace({})
    const { namespace: name } = credentials
    const client = this.#ground.client.in(name)
    try {
      // With the clock frozen, a delay would never be over.
      if (this.#ground.delaysConfirmation) await client.moveClock({ freeze: false })
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
      const first = { end, aftermath: await aftermathOf(client, end, this.#clock) }
      const last = before
        ? first
        : await runAgain(client, first, { ...terms, ...commandTerms, restarts: terms.restarts ?? 0 })
      const seen = await this.#look(client, last.aftermath, rules)
      const restarted = last === first ? undefined : lastNumber(first.aftermath.evidence)
      const overhead = started - began + (this.#clock.wallNow() - ended)
      const { unsettled, evidence: facts } = last.aftermath
      // Its requests come too late to be evidence, and for the audit.
      const books = await runBooks(before ? undefined : terms.books, { ...commandTerms, client, facts })
      if (terms.interruption.asked.aborted) return undefined
      return { ...seen, unsettled, before, end: last.end, restarted, took: ended - ran, overhead, books }
    } finally {
      await this.#ground.client.deleteNamespace(name)
    }
  }

  /** Number of namespaces that commands made of their own. */
  get madeByCommands(): number {
    return this.#madeByCommands
  }

  stop(): Promise<void> {
    return this.#ground.stop()
  }

  /** Reads the money, and judges the client. */
  async #look(client: ControlClient, { evidence, other_namespaces }: Aftermath, rules: readonly ActiveFault[]) {
    this.#madeByCommands = other_namespaces
    const { clearings, resets } = evidence.taken_away
    const report = await reportOn(evidence, { version, seed: this.seed, scenario: undefined })
    return {
      evidence,
      report,
      struck: rules.map(({ id }) => hasStruck(id, evidence)),
      takenAway: clearings + resets > 0,
      ...(await client.auditedMoney()),
    }
  }
}

/** Milliseconds between two looks at the faults. */
const PAUSE_MS = 100

/**
 * Removes each fault so many milliseconds of real time after it has struck, until the signal is aborted. The clock of a run
 * is frozen, so that all runs earn the same yield; a fault that lasts for a time would never end.
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
