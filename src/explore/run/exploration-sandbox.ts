import type { ControlClient } from '../../control/client.ts'
import type { AuditReport, Credentials, FaultRule, Report } from '../../control/contract.ts'
import { reportOn } from '../../control/report-of.ts'
import { SandboxClock } from '../../domain/clock.ts'
import type { Money } from '../../domain/money.ts'
import { type Aftermath, hasStruck } from '../../exec/aftermath.ts'
import { commandEnvironment, type Rename } from '../../exec/command-environment.ts'
import { type Ground, openGround, ownGround } from '../../exec/ground.ts'
import { type BooksAnswer, runBooks } from '../../exec/run-books.ts'
import type { CommandEnd, CommandStdio, Interruption } from '../../exec/run-command.ts'
import type { SandboxOptions } from '../../options.ts'
import type { SandboxRecord } from '../../running/sandbox-record.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { Evidence } from '../../verdict/finding.ts'
import { version } from '../../version.ts'
import type { RestartTerms } from '../crash/play-crash.ts'
import { type Crashed, type Played, playCommand, Stage, type Twinned } from './play-command.ts'

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
  /** How the command is killed and started again; undefined where it is never killed. */
  crash?: CrashTerms | undefined
  /** Run by the shell after each run, when all is settled; prints what the application believes. Undefined for none. */
  books?: string | undefined
}

/** Terms of the runs in which the command is killed. */
export interface CrashTerms extends RestartTerms {
  /** True to try faults all the same if the command cannot be started again, and to plan no kill by chance: for a certificate. */
  ifRestartable?: true
}

/** Terms that differ from run to run. */
export interface RunWish {
  faults: readonly FaultRule[]
  /** Milliseconds of real time after which faults that have struck are removed; 0 for never. */
  holding: number
  stdio: CommandStdio
  /** Time limit in milliseconds; undefined for no limit. */
  timeout: number | undefined
  /** How the command is run; default: once. */
  play?(stage: Stage): Promise<Played>
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
  /** For each fault in order, true if an exchange shows that it struck; for each kill and twin, if the command came to it. */
  struck: readonly boolean[]
  /** True if the command removed faults, or reset the sandbox. */
  takenAway: boolean
  /** Number of the last exchange before the command's last start, if it was started again. */
  restarted: number | undefined
  /** Set where the command was to be killed. */
  crash: Crashed | undefined
  /** The exchanges of one more start after everything was done; empty if there was none. */
  again: readonly RecordedExchange[]
  /** What the application believes, or why that cannot be used; undefined if it was not asked. */
  books?: BooksAnswer
  /** Set where the command was to run beside another process of the same. */
  twin: Twinned | undefined
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
    return ExplorationSandbox.#on(await openGround(options, host))
  }

  /** A sandbox of its own whose service has these settings in place of the fixture's. Throws as {@link ExplorationSandbox.open} does. */
  static async openUnder(
    service: Readonly<Record<string, unknown>>,
    options: SandboxOptions,
  ): Promise<ExplorationSandbox> {
    return ExplorationSandbox.#on(await ownGround(options, service))
  }

  static async #on(ground: Ground): Promise<ExplorationSandbox> {
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
    const { play = playCommand } = wish
    try {
      // With the clock frozen, a delay would never be over.
      if (this.#ground.delaysConfirmation) await client.moveClock({ freeze: false })
      const rules = wish.faults.length > 0 ? await client.addFaults(wish.faults) : []
      if (terms.interruption.asked.aborted) return undefined
      const stage = this.#stageOf(client, credentials, { terms, wish })
      const played = await play(stage)
      if (terms.interruption.asked.aborted) return undefined
      const { before, end, restarted, crash, again = [], twin, aftermath } = played
      const { unsettled, evidence: facts } = aftermath
      const seen = await this.#look(client, aftermath)
      const overhead = this.#clock.wallNow() - began - stage.took - stage.prepared
      // Its requests come too late to be evidence, and for the audit.
      const books = await runBooks(before ? undefined : terms.books, { ...stage.terms, client, facts })
      if (terms.interruption.asked.aborted) return undefined
      const struck = [
        ...rules.map(({ id }) => hasStruck(id, facts)),
        ...(crash?.killed ?? []),
        ...(twin ? [twin.met] : []),
      ]
      return {
        ...seen,
        struck,
        unsettled,
        before,
        end,
        restarted,
        crash,
        again,
        twin,
        took: stage.took,
        overhead,
        books,
      }
    } finally {
      await this.#ground.client.deleteNamespace(name)
    }
  }

  #stageOf(
    client: ControlClient,
    credentials: Credentials,
    { terms, wish }: { terms: ExplorationRunTerms; wish: RunWish },
  ): Stage {
    const { command, before, renames, interruption, restarts = 0 } = terms
    const { stdio, timeout, holding } = wish
    const env = commandEnvironment(terms.env, credentials, renames)
    const inside = () => {
      const { inside: of } = this.#ground
      if (!of) throw new Error('this sandbox is another process')
      return of(credentials.namespace)
    }
    const again = { command, env, stdio, timeout, interruption, restarts, clock: this.#clock }
    return new Stage(client, inside, again, before, holding)
  }

  /** Number of namespaces that commands made of their own. */
  get madeByCommands(): number {
    return this.#madeByCommands
  }

  stop(): Promise<void> {
    return this.#ground.stop()
  }

  /** Reads the money, and judges the client. */
  async #look(client: ControlClient, { evidence, other_namespaces }: Aftermath) {
    this.#madeByCommands = other_namespaces
    const { clearings, resets } = evidence.taken_away
    const report = await reportOn(evidence, { version, seed: this.seed, scenario: undefined })
    return {
      evidence,
      report,
      takenAway: clearings + resets > 0,
      ...(await client.auditedMoney()),
    }
  }
}
