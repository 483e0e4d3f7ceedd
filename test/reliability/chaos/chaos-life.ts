import { expect } from 'vitest'
import { ControlClient } from '../../../src/control/client.ts'
import type { Credentials } from '../../../src/index.ts'
import { SeededRandom } from '../../../src/support/random.ts'
import { eventually } from '../../helpers/eventually.ts'
import { partnerAt } from '../../helpers/partner.ts'
import { PATIENCE } from '../../helpers/patience.ts'
import { blockHash, expectLinkedBlocks, expectSameBlocks, headOf } from '../harness/blocks.ts'
import { atSomeMoment, ClientLoad } from '../harness/client-load.ts'
import { ClientMemory } from '../harness/client-memory.ts'
import { expectNothingLost } from '../harness/expect-nothing-lost.ts'
import type { HarnessDeps } from '../harness/harness-parts.ts'
import { Operator } from '../harness/operator.ts'
import type { SandboxProcess } from '../harness/sandbox-process.ts'
import type { Episode, Kind, LifePlan, Step } from './chaos-plan.ts'
import type { ChaosReport } from './chaos-report.ts'
import { type PreparedSandbox, prepareSandbox } from './prepare-sandbox.ts'

/** Kept responses expire after a day of business time. */
const BUSINESS_TIME = 20 * 3_600
/** Steps further apart than so many milliseconds are no pair. */
const TOGETHER = 200

/** A sandbox from its first start to its end, and what its clients remember of it. */
export class ChaosLife {
  static async begin(plan: LifePlan, seed: number, report: ChaosReport): Promise<ChaosLife> {
    const prepared = await prepareSandbox(plan)
    const { process } = prepared
    const life = new ChaosLife(prepared, report)
    try {
      const random = new SeededRandom(seed, plan.number)
      life.#deps = { ...connected(await process.start('0')), memory: life.memory, random, round: 0 }
      life.#atFirst = process.memory()
      return life
    } catch (error) {
      await life.dispose()
      throw error
    }
  }

  readonly process: SandboxProcess
  readonly memory = new ClientMemory()
  readonly #report: ChaosReport
  readonly #prepared: PreparedSandbox
  /** Changed in place: load and operator go on with the next start. */
  #deps = {} as HarnessDeps
  #atFirst = { sandbox: 0, anvil: 0 }
  #pauses: Promise<void>[] = []

  private constructor(prepared: PreparedSandbox, report: ChaosReport) {
    this.process = prepared.process
    this.#prepared = prepared
    this.#report = report
  }

  /** Load, with one thing after another going wrong; then all must be well, and the chain come back as it was. */
  async live(episode: Episode): Promise<void> {
    this.#deps.round = episode.number
    const load = new ClientLoad(this.#deps, { persistent: true, pause: episode.pause })
    const operator = new Operator(this.#deps, await this.#harmless(episode))
    try {
      await this.#torment(episode)
    } finally {
      await inTime(Promise.all([load.stop(), operator.stop()]), 'a request was not answered')
    }
    await this.#expectWell()
    if (episode.last !== 'nobody') {
      const head = await headOf(this.#deps.rpcUrl)
      await this.#end(episode.last, episode.delay)
      expect(await blockHash(this.#deps.rpcUrl, head.number), `block ${head.number}, started again`).toBe(head.hash)
      await this.#expectWell()
    }
    this.#report.episodes++
  }

  /** One last look at everything; of the sandbox, nothing is left. */
  async expectGoodEnd(): Promise<void> {
    await expectSameBlocks(this.#deps, true)
    await expectLinkedBlocks(this.#deps)
    const { sandbox, anvil } = this.process.memory()
    const grown = `sandbox ${this.#atFirst.sandbox} → ${sandbox} MiB, Anvil ${this.#atFirst.anvil} → ${anvil} MiB`
    this.#report.memory.push(`${grown} after ${this.memory.outcomes().size} transactions`)
    await this.process.end('SIGTERM')
    await this.process.expectNothingLeft()
  }

  async dispose(): Promise<void> {
    this.#report.hashes += this.memory.outcomes().size
    this.#report.requests += this.memory.requests
    await Promise.all(this.#pauses)
    await this.process.dispose()
    await this.#prepared.dispose()
  }

  async #harmless({ meddling }: Episode): Promise<Episode['meddling']> {
    const { offset_seconds } = await this.#deps.control.clock()
    return meddling.filter((what) => what !== 'move_clock' || offset_seconds < BUSINESS_TIME)
  }

  async #torment({ groups, delay }: Episode): Promise<void> {
    let before: Kind | undefined
    for (const step of groups.flat()) {
      await atSomeMoment(step.after)
      await this.#strike(step, delay)
      this.#report.count(step.kind, step.after <= TOGETHER ? before : undefined)
      before = step.kind
    }
    await Promise.all(this.#pauses.splice(0))
    await this.#countStruck()
    await this.#deps.control.clearFaults()
  }

  async #strike({ kind, rule, lasts }: Step, delay: string): Promise<void> {
    if (rule) await this.#deps.control.addFaults([rule])
    else if (kind === 'pause_anvil') this.#pauses.push(this.#pause(lasts ?? 0))
    else if (kind === 'upstream_down') this.#pauses.push(this.#cutUpstream(lasts ?? 0))
    else if (kind === 'kill_anvil') this.process.killAnvil()
    else await this.#end(kind as 'kill_sandbox' | 'stop_sandbox', delay)
  }

  async #pause(milliseconds: number): Promise<void> {
    const stopped = this.process.signalAnvil('STOP')
    await atSomeMoment(milliseconds)
    this.process.signalAnvil('CONT', stopped)
  }

  async #cutUpstream(milliseconds: number): Promise<void> {
    this.#prepared.upstream?.be('down')
    await atSomeMoment(milliseconds)
    this.#prepared.upstream?.be('well')
  }

  /** Ends it; resolves when another one is ready. */
  async #end(who: 'kill_anvil' | 'kill_sandbox' | 'stop_sandbox', delay: string): Promise<void> {
    if (who === 'kill_anvil') {
      const killed = this.process.killAnvil()
      await eventually(() => expect(killed).not.toEqual(expect.arrayContaining(this.process.anvils())), 10)
      return this.#ready()
    }
    await this.#countStruck()
    await inTime(this.process.end(who === 'kill_sandbox' ? 'SIGKILL' : 'SIGTERM'), 'it did not stop')
    Object.assign(this.#deps, connected(await inTime(this.process.start(delay), 'it did not start')))
    this.#report.restarts++
  }

  async #countStruck(): Promise<void> {
    for (const { kind, hits } of await this.#deps.control.faults()) {
      this.#report.struck.set(kind, (this.#report.struck.get(kind) ?? 0) + hits)
    }
  }

  async #ready(): Promise<void> {
    const ready = async () => (await fetch(`${this.#deps.acme.sandbox.baseUrl}/_sandbox/ready`)).json()
    await eventually(async () => expect(await ready()).toEqual({ ready: true }), 10)
  }

  async #expectWell(): Promise<void> {
    await this.#ready()
    await this.process.expectOneAnvil()
    // Those whose client has gone are carried through all the same.
    await eventually(async () => {
      const { checks } = await this.#deps.control.audit()
      expect(checks.filter(({ detail }) => detail.includes('not compared'))).toEqual([])
    }, 10)
    await expectNothingLost(this.#deps, true)
  }
}

function connected(credentials: Credentials): Pick<HarnessDeps, 'acme' | 'control' | 'rpcUrl'> {
  const [rpcUrl = ''] = Object.values(credentials.rpc_urls)
  return { acme: partnerAt(credentials), control: new ControlClient(credentials.base_url), rpcUrl }
}

async function inTime<Result>(work: Promise<Result>, otherwise: string): Promise<Result> {
  const late = atSomeMoment(PATIENCE).then(() => {
    throw new Error(`${otherwise} within ${PATIENCE} ms`)
  })
  late.catch(() => {})
  return Promise.race([work, late])
}
