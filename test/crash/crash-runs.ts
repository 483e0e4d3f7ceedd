import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ControlClient } from '../../src/control/client.ts'
import type { FaultRule, RecordedExchange } from '../../src/control/contract.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Operation } from '../../src/domain/operations.ts'
import { commandEnvironment } from '../../src/exec/command-environment.ts'
import { judgeTrial } from '../../src/explore/judge/judge-trial.ts'
import { type Baseline, compareBaselines } from '../../src/explore/run/baseline.ts'
import type { Observation } from '../../src/explore/run/exploration-sandbox.ts'
import type { LedgerTransfer } from '../../src/oracle/facts.ts'
import { eventually } from '../helpers/eventually.ts'
import { testSandbox } from '../helpers/partner.ts'
import type { CrashKind, CrashOutcome } from './expected.ts'

/** A request of the worker at which it is held: killed there, or joined by a second worker. */
export interface CrashPoint {
  kind: CrashKind
  operation: Operation
  /** From 1, among the requests of that operation. */
  ordinal: number
}

/** One row of the books that a worker prints. */
export interface BookRow {
  type: 'deposit' | 'withdraw'
  amount_minor: string
  state: 'done' | 'failed' | 'open'
  idempotency_key?: string
}

/** What came of a worker that was killed, or had company. */
export interface CrashedRun {
  code: number | null
  outcome: CrashOutcome
  sentences: string[]
  /** `deposit 250000000`, in the order of the ledger. */
  moved: string[]
  books: BookRow[]
  /** True if the books say of every transfer what the ledger has. */
  right: boolean
}

const HOLDS: Record<CrashKind, Pick<FaultRule, 'kind' | 'phase' | 'with'>> = {
  request: { kind: 'latency', phase: 'on_request', with: { delay: '1h' } },
  unanswered: { kind: 'latency', phase: 'during_response', with: { delay: '1h' } },
  under_way: { kind: 'stuck', phase: 'after_broadcast' },
}

/** Milliseconds after which a worker that asks nothing is taken for one that waits for the held one. */
const QUIET_MS = 3_000
/** Milliseconds after which a request of a twin that has no answer is taken for one that waits for the held one. */
const WAITING_MS = 1_500
const PAUSE_MS = 20

/** A worker by the commands that start it and print its books. */
export interface WorkerCommands {
  work: readonly string[]
  books: readonly string[]
  env?: Record<string, string>
}

/** Kills workers by hand in namespaces of one sandbox, whose clock stands still, with a folder for what they keep. */
export class CrashRuns implements AsyncDisposable {
  readonly #clock = new SandboxClock()
  readonly #folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-crash-'))
  readonly #baselines = new Map<string, Baseline>()

  private constructor(
    readonly client: ControlClient,
    readonly stop: () => Promise<void>,
  ) {}

  static async open(): Promise<CrashRuns> {
    const sandbox = await testSandbox({ clock: new Date().toISOString() })
    return new CrashRuns(new ControlClient(sandbox.baseUrl), () => sandbox.stop())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Runs the worker without harm, and once more: that is to move nothing. */
  unharmed(worker: WorkerCommands): Promise<CrashedRun> {
    return this.#judged(worker, async (run) => {
      const first = await run.start().ended
      return first === 0 ? run.start().ended : first
    })
  }

  /** Kills the worker's process group at a point, and starts it again until it ends well; three times at most. */
  killed(worker: WorkerCommands, point: CrashPoint): Promise<CrashedRun> {
    return this.#judged(worker, async (run) => {
      const fault = await run.hold(point)
      const first = run.start()
      await run.isHeld(first)
      first.kill()
      await first.ended
      if (point.kind !== 'under_way') await run.client.removeFault(fault)
      const second = run.start()
      if (point.kind === 'under_way') await run.letGo(fault, second, waitsOrLooked)
      let code = await second.ended
      for (let again = 0; again < 2 && code !== 0; again++) code = await run.start().ended
      return code
    })
  }

  /** Starts a second worker while the first is held at a point, and lets the first go when the second has come to rest. */
  twins(worker: WorkerCommands, point: CrashPoint): Promise<CrashedRun> {
    return this.#judged(worker, async (run) => {
      const fault = await run.hold(point)
      const first = run.start()
      await run.isHeld(first)
      const second = run.start()
      await run.letGo(fault, second, ({ end, took_ms }) => end === 'open' && took_ms > WAITING_MS)
      const [code] = await Promise.all([first.ended, second.ended])
      return code
    })
  }

  async #judged(worker: WorkerCommands, work: (run: Run) => Promise<number | null>): Promise<CrashedRun> {
    const baseline = await this.#baselineOf(worker)
    const { seen, books } = await this.#observed(worker, work)
    const { outcome, level, sentences } = judgeTrial(seen, baseline)
    const { transfers } = seen.evidence.ledger
    const wanted = baseline.sibling.made.filter(({ type }) => type !== 'create_portfolio')
    const isLess = wanted.some(({ type, amount_minor, count }) => {
      return transfers.filter((one) => one.type === type && one.amount_minor === amount_minor).length < count
    })
    const isUndone = seen.end.code === 0 && isLess && level !== 'critical'
    return {
      code: seen.end.code,
      outcome: isUndone ? 'left_undone' : outcome,
      sentences,
      moved: transfers.map(({ type, amount_minor }) => `${type} ${amount_minor}`),
      books,
      right: areRight(books, transfers),
    }
  }

  async #baselineOf(worker: WorkerCommands): Promise<Baseline> {
    const name = JSON.stringify({ ...worker, env: { ...worker.env, MISTAKE: undefined } })
    const known = this.#baselines.get(name)
    if (known) return known
    const start = async (run: Run) => run.start().ended
    const [one, other] = [await this.#observed(worker, start), await this.#observed(worker, start)]
    const baseline = compareBaselines(one.seen, other.seen)
    if (baseline.difference) throw new Error(`the worker is not repeatable: ${baseline.difference}`)
    this.#baselines.set(name, baseline)
    return baseline
  }

  async #observed(worker: WorkerCommands, work: (run: Run) => Promise<number | null>) {
    const credentials = await this.client.createNamespace({})
    const client = this.client.in(credentials.namespace)
    const caller = { PATH: process.env.PATH, WORKER_DIR: this.#folder, PYTHONDONTWRITEBYTECODE: '1', ...worker.env }
    const env = commandEnvironment(caller, credentials, [])
    const run = new Run(client, worker, env, this.#clock)
    try {
      const code = await work(run)
      const { evidence, unsettled } = await client.conclude(code === 0 ? 'well' : 'failed')
      const [file = '', ...args] = worker.books
      const printed = execFileSync(file, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      const { form, transfers } = JSON.parse(printed) as { form: number; transfers: BookRow[] }
      if (form !== 1) throw new Error(`books of form ${form}`)
      const end = { code, signal: null, timedOut: false, leftBehind: [] }
      const rest = {
        before: undefined,
        took: 0,
        overhead: 0,
        struck: [],
        takenAway: false,
        restarted: undefined,
        crash: undefined,
        twin: undefined,
        again: [],
      }
      const report = await client.report()
      const seen: Observation = { ...rest, end, evidence, unsettled, report, ...(await client.auditedMoney()) }
      return { seen, books: transfers }
    } finally {
      run.killAll()
      await this.client.deleteNamespace(credentials.namespace)
    }
  }
}

/** @returns true if it waits for the outcome of a transfer, or was shown the list of those that are confirmed */
function waitsOrLooked({ end, operation }: RecordedExchange): boolean {
  if (end === 'open') return operation === 'deposit' || operation === 'withdraw'
  return end === 'answered' && operation === 'list_transactions'
}

/** A namespace, and the starts of a worker in it. */
class Run {
  readonly #started: Started[] = []

  constructor(
    readonly client: ControlClient,
    readonly worker: WorkerCommands,
    readonly env: NodeJS.ProcessEnv,
    readonly clock: SandboxClock,
  ) {}

  start(): Started {
    const started = new Started(this.worker.work, this.env)
    this.#started.push(started)
    return started
  }

  killAll(): void {
    for (const started of this.#started) started.kill()
  }

  async hold({ kind, operation, ordinal }: CrashPoint): Promise<string> {
    const [fault] = await this.client.addFaults([{ ...HOLDS[kind], match: { operation, ordinal } } as FaultRule])
    return fault!.id
  }

  async isHeld(worker: Started): Promise<void> {
    await eventually(async () => {
      if (worker.isOver) return
      const [fault] = await this.client.faults()
      if (fault?.hits !== 1) throw new Error('it has not come to the point')
    })
    if (worker.isOver) throw new Error('it ended before the point')
  }

  /** Takes the fault away when the worker, by its open or answered exchanges, has come to where it must not wait any longer. */
  async letGo(fault: string, worker: Started, isThere: (one: RecordedExchange) => boolean): Promise<void> {
    const before = (await this.client.requests()).data[0]?.number ?? 0
    let newest = before
    let since = this.clock.wallNow()
    while (!worker.isOver && this.clock.wallNow() - since < QUIET_MS) {
      const news = (await this.client.requests()).data.filter(({ number }) => number > before)
      if (news.some(isThere)) break
      const last = news[0]?.number ?? newest
      if (last > newest) since = this.clock.wallNow()
      newest = last
      await this.clock.wallSleep(PAUSE_MS)
    }
    await this.client.removeFault(fault)
  }
}

/** A start of the worker, in a process group of its own. */
class Started {
  readonly #child: ChildProcess
  readonly ended: Promise<number | null>
  isOver = false

  constructor([file = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(file, args, { env, stdio: 'ignore', detached: true })
    this.ended = once(this.#child, 'exit').then(([code]) => {
      this.isOver = true
      return code as number | null
    })
  }

  kill(): void {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** By key, else by type and amount: `done` is a transfer, `failed` is none, and no transfer is without a row. */
function areRight(books: readonly BookRow[], transfers: readonly LedgerTransfer[]): boolean {
  const left = [...transfers]
  const claims = books.map((row) => {
    const byKey = left.findIndex(({ key }) => key === row.idempotency_key?.toLowerCase())
    const isAlike = (one: LedgerTransfer) => one.type === row.type && one.amount_minor === row.amount_minor
    const at = row.idempotency_key === undefined ? left.findIndex(isAlike) : byKey
    if (at >= 0) left.splice(at, 1)
    return row.state === 'open' || (row.state === 'done') === at >= 0
  })
  return left.length === 0 && claims.every(Boolean)
}
