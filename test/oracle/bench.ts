import { ControlClient } from '../../src/control/client.ts'
import type { ActiveFault, FaultRule } from '../../src/control/contract.ts'
import { reportOn } from '../../src/control/report-of.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { aftermathOf, hasStruck, reasonsAgainst } from '../../src/exec/aftermath.ts'
import { commandEnvironment } from '../../src/exec/command-environment.ts'
import { misuseOf, withReasons } from '../../src/exec/exec.ts'
import { exitCodeOf } from '../../src/exec/exit-code.ts'
import type { CommandEnd } from '../../src/exec/run-command.ts'
import type { OutcomeId } from '../../src/oracle/outcome.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import type { Scenario } from '../../src/scenarios/scenario-schema.ts'
import type { Evidence } from '../../src/verdict/finding.ts'
import type { Report } from '../../src/verdict/report.ts'
import { version } from '../../src/version.ts'
import { type Books, type Client, movedIn } from './clients.ts'
import { HAZARDS, type Hazard, PLACES, type Situation } from './table/situations.ts'

/** What became of a client's transfers. */
export interface Judged {
  /** Of its transfers, and what is said of the run, in alphabetical order. */
  outcomes: OutcomeId[]
  /** Of its portfolios, but for those that are as they should be. */
  portfolios: OutcomeId[]
  /** As `exec` ends with it. */
  code: number
  /** Ids of the findings that failed. */
  broken: string[]
  /** Whether the client's books have what was moved; undefined for one that has none. */
  booksRight: boolean | undefined
  report: Report
}

/** What is known of a client's run when it has ended: all that a judgement is drawn from. */
export interface Ran {
  /** The client's. */
  name: string
  evidence: Evidence
  scenario: Scenario | undefined
  seed: number
  end: CommandEnd
  /** Why it cannot be passed, whatever the rest shows. */
  reasons: string[]
  /** Faults that it did not meet, but for those of a scenario. */
  missed: ActiveFault[]
  books: Books | undefined
  /** What its customer has paid in, less what was taken out; undefined for a client without books. */
  moved: bigint | undefined
}

/** A sandbox in which clients run, each in a namespace of its own. */
export class Bench implements AsyncDisposable {
  readonly #sandbox: Sandbox
  readonly #control: ControlClient
  readonly #clock = new SandboxClock()

  private constructor(sandbox: Sandbox) {
    const { baseUrl, fetch, options } = sandbox
    this.#sandbox = sandbox
    this.#control = new ControlClient(baseUrl, { controlToken: options.controlToken, fetch })
  }

  static async open(): Promise<Bench> {
    const sandbox = await Sandbox.listen({ port: 0, host: '127.0.0.1', confirmationDelay: 0, seed: 7 })
    await sandbox.ready
    return new Bench(sandbox)
  }

  /** Lets a client work in a situation, as often as it is started. */
  async run(client: Client, situation: Situation, seed = 7): Promise<Ran> {
    const { rules, confirmationDelay = '0' } = termsOf(situation)
    const scenario = await scenarioOf(situation)
    const credentials = await this.#control.createNamespace({ seed, confirmation_delay: confirmationDelay })
    const own = this.#control.in(credentials.namespace)
    try {
      const given = scenario ? (await own.startScenario(scenario)).faults : []
      const added = rules.length > 0 ? await own.addFaults(rules) : []
      const env = commandEnvironment({ PATH: process.env.PATH, HOME: process.env.HOME }, credentials, [])
      const { code, books } = await client.run(env)
      const end: CommandEnd = { code, signal: null, timedOut: false, leftBehind: [] }
      const aftermath = await aftermathOf(own, end, this.#clock)
      const { evidence } = aftermath
      const reasons = reasonsAgainst(aftermath, [...given, ...added])
      // What goes wrong several times in a row would be one fault with `times` on a command line.
      const missed = added.some(({ id }) => hasStruck(id, evidence)) ? [] : added.slice(0, 1)
      return {
        name: client.name,
        evidence,
        scenario,
        seed,
        end,
        reasons,
        missed,
        books,
        moved: books && (await movedIn(env)),
      }
    } finally {
      await this.#control.deleteNamespace(credentials.namespace)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#sandbox.stop()
  }
}

/** Judges a run as `exec` does. */
export async function judge({
  name,
  evidence,
  scenario,
  seed,
  end,
  reasons,
  missed,
  books,
  moved,
}: Ran): Promise<Judged> {
  const judged = await reportOn(evidence, { version, seed, scenario, required: [], reasons })
  const misuse = misuseOf(
    { end, report: judged, otherNamespaces: 0, missed },
    { command: [name], env: {}, timeout: undefined },
  )
  const report = withReasons(judged, misuse)
  return {
    outcomes: outcomesOf(report, (type) => type !== 'create_portfolio'),
    portfolios: outcomesOf(report, (type) => type === 'create_portfolio').filter((outcome) => outcome !== 'told'),
    code: exitCodeOf({ runs: [{ report, scenario, end }], ...TERMS }),
    broken: report.findings.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id),
    booksRight: books && moved !== undefined && books.open.length === 0 ? isNear(books.sum, moved) : undefined,
    report,
  }
}

const TERMS = { badBaseline: false, allowInconclusive: false, interruptedBy: undefined }

interface Terms {
  rules: FaultRule[]
  confirmationDelay?: string | undefined
}

function termsOf(situation: Situation): Terms {
  if (situation === 'quiet' || 'scenario' in situation) return { rules: [] }
  const { rules, confirmationDelay }: Hazard = HAZARDS[situation.hazard]
  return { rules: rules(PLACES[situation.place]), confirmationDelay }
}

/** All that there is, when it is withdrawn, has its yield. */
const isNear = (sum: bigint, moved: bigint) => sum - moved < 1000n && moved - sum < 1000n

async function scenarioOf(situation: Situation): Promise<Scenario | undefined> {
  if (situation === 'quiet' || !('scenario' in situation)) return undefined
  const found = (await shippedScenarios()).find(({ name }) => name === situation.scenario)
  if (!found) throw new Error(`there is no scenario ${situation.scenario}`)
  return found
}

function outcomesOf({ operations }: Report, wanted: (type: string) => boolean): OutcomeId[] {
  return operations.flatMap(({ type, outcome }) => (wanted(type) ? [outcome] : [])).sort()
}
