import { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/index.ts'
import { Connection } from './connection.ts'
import { Findings } from './findings.ts'
import { FuzzProcess } from './fuzz-process.ts'
import type { Face, FuzzRequest } from './fuzz-request.ts'
import { judge } from './judge.ts'
import { closeLap, type LapDeps } from './lap.ts'
import { readLog } from './log.ts'
import { OpenApi } from './open-api.ts'
import { shoot } from './shoot.ts'
import { type Weather, weatherOf } from './weather.ts'
import { openWorld, type World } from './world.ts'

/** What is to be sent. */
export interface FuzzPlan {
  requests: number
  seed: number
  /** Numbers of the only requests to send, one after another. */
  only: readonly number[]
  /** Milliseconds after which an answer is overdue, and those that a reset may take. */
  patience: { answer: number; reset: number }
  /** Told how far it is. */
  progress(line: string): void
}

/** Exchanges at once. */
const LANES = 40
/**
 * What asks the node many times, each time with the limit of a call: a batch of calls, blocks one after another, an audit. And
 * transfers: a signed one waits for its chain, whose node may have to be replaced.
 */
const LONG = /batch$|_mine|^(get_audit|get_money|deposit|withdraw)$/
/** Milliseconds that such may take: more than a batch's limit and a last call's. */
const LONG_PATIENCE = 40_000
/** Milliseconds to wait for an answer where none may come. */
const SHORT_PATIENCE = 250
/** The weather changes between laps; whoever repeats one request needs to know where the laps began. */
const LAPS = 40
const SHORTEST_LAP = 1_000
/** A sandbox that ends more often is not shot at any further. */
const MOST_STARTS = 20

/** Sends everything that is planned, and says what was found. */
export class FuzzRun {
  readonly findings = new Findings()
  readonly #plan: FuzzPlan
  readonly #process = new FuzzProcess()
  readonly #underWay = new Map<number, Buffer>()
  readonly #lapLength: number
  #credentials: Credentials | undefined
  #starts = 0

  constructor(plan: FuzzPlan) {
    this.#plan = plan
    this.#lapLength = Math.max(SHORTEST_LAP, Math.ceil(plan.requests / LAPS))
  }

  async run(): Promise<void> {
    const { requests, only, progress } = this.#plan
    const begun = performance.now()
    try {
      for (let lap = 0; lap * this.#lapLength < requests; lap++) {
        const [from, until] = [lap * this.#lapLength, Math.min(requests, (lap + 1) * this.#lapLength)]
        const mine = only.filter((index) => index >= from && index < until)
        if (only.length > 0 && mine.length === 0) continue
        await this.#lap(weatherOf(lap), { from, until, only: mine })
        const seconds = (performance.now() - begun) / 1000
        const rate = Math.round(until / seconds)
        progress(`${until} requests, ${rate} a second, ${this.findings.count} findings, ${this.#process.memory()} MiB`)
        for (const line of this.findings.news()) progress(line)
      }
    } finally {
      await this.#process.dispose()
    }
  }

  async #lap(weather: Weather, { from, until, only }: { from: number; until: number; only: number[] }): Promise<void> {
    if (this.#starts >= MOST_STARTS) return
    const parts = await this.#open()
    if (!parts) return
    let next = from
    const take = this.#plan.only.length > 0 ? () => only.shift() : () => (next < until ? next++ : undefined)
    const lanes = this.#plan.only.length > 0 ? 1 : LANES
    await Promise.all(Array.from({ length: lanes }, () => this.#shootOn(parts, weather, take)))
    if (this.#process.dead) this.#crashed()
    else await closeLap(parts, weather, this.#plan.patience.reset)
    readLog(this.#process.takeLog(), weather, this.findings)
  }

  /** A world to shoot at; what plain requests have to say against that is a finding. */
  async #open(): Promise<(LapDeps & { world: World; openApi: OpenApi }) | undefined> {
    if (!this.#credentials) {
      this.#credentials = await this.#process.start()
      this.#starts++
    }
    const credentials = this.#credentials
    const control = new ControlClient(credentials.base_url)
    try {
      const world = await openWorld(credentials)
      return { credentials, control, findings: this.findings, world, openApi: await OpenApi.of(credentials.base_url) }
    } catch (error) {
      this.findings.add('all', 'plain requests', { kind: 'damage', reason: String(error) }, NO_EXAMPLE)
      await this.#restart()
      return undefined
    }
  }

  async #shootOn(
    { credentials, world, openApi }: { credentials: Credentials; world: World; openApi: OpenApi },
    weather: Weather,
    take: () => number | undefined,
  ): Promise<void> {
    const connection = new Connection(Number(new URL(credentials.base_url).port))
    for (let index = take(); index !== undefined && !this.#process.dead; index = take()) {
      const { face, request } = shoot(this.#plan.seed, index, world, weather)
      const { bytes, alone = false, method } = request
      this.#underWay.set(index, bytes)
      const patience = this.#patience(request)
      const result = await connection.send(bytes, { patience, alone, head: method === 'HEAD' })
      if (this.#process.dead) break
      this.#underWay.delete(index)
      this.findings.sent(face)
      const verdict = judge({ face, request, result, weather }, openApi)
      if (this.#plan.only.length > 0) this.#show(index, request, result)
      if (verdict === 'excused') this.findings.excuse(face)
      else if (verdict) this.findings.add(face as Face, request.what, verdict, { index, bytes })
    }
    connection.close()
  }

  #patience({ what, mayBeSilent }: FuzzRequest): number {
    const { answer } = this.#plan.patience
    if (mayBeSilent) return SHORT_PATIENCE
    return LONG.test(what) ? Math.max(answer, LONG_PATIENCE) : answer
  }

  #show(index: number, { bytes }: FuzzRequest, result: Awaited<ReturnType<Connection['send']>>): void {
    const { progress } = this.#plan
    progress(`#${index}\n${printable(bytes)}\n`)
    if (typeof result === 'string') progress(`no answer: ${result}`)
    else {
      const headers = [...result.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
      progress(`${result.status}\n${headers}\n\n${printable(result.body)}`)
    }
  }

  /** The sandbox has ended: one of the requests that were under way did it. */
  #crashed(): void {
    const suspects = [...this.#underWay]
    const reason = `ended while requests ${suspects.map(([index]) => index).join(', ')} were under way`
    const [index, bytes] = suspects.sort(([, a], [, b]) => a.length - b.length)[0] ?? [-1, Buffer.alloc(0)]
    this.findings.add('all', 'the sandbox', { kind: 'crash', reason }, { index, bytes })
    this.#underWay.clear()
    this.#credentials = undefined
  }

  async #restart(): Promise<void> {
    await this.#process.stop()
    this.#credentials = undefined
  }
}

/** What a terminal can show, shortened. */
function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .slice(0, 4_000)
    .replace(/[^\n\x20-\x7e]/g, '.')
}

const NO_EXAMPLE = { index: -1, bytes: Buffer.alloc(0) }
