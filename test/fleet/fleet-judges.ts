import { certificateSummary } from '../../src/certify/certificate.ts'
import { isBad } from '../../src/explore/judge/judge-trial.ts'
import { explorationSummary } from '../../src/explore/summary.ts'
import type { SandboxRecord } from '../../src/running/sandbox-record.ts'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { certified } from '../certify/certified.ts'
import { writeClient } from '../certify/clients.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { ENV, exploring } from '../explore/exploring.ts'
import { FleetGuests } from './fleet-guests.ts'

/** What is tried: enough to be wrong about, and little enough for several times between two strikes. */
const TRIED = { operations: ['deposit' as const], kinds: ['drop_connection'], jobs: 1 }
const SCENARIOS = ['dropped-deposit', 'reverted-deposit']

/** A verdict, and everything that was found, as sentences. */
interface Judgement {
  verdict: string
  found: readonly string[]
}

/** A judge with a client, in one process or within a fleet. */
type Judge = (host?: SandboxRecord) => Promise<Judgement>

/** Judges that work in namespaces of a fleet while its processes end, and compare their verdicts with those of one process. */
export class FleetJudges {
  readonly #guests: FleetGuests
  readonly #hosts: readonly SandboxRecord[]
  readonly #judges: ReadonlyMap<string, { judge: Judge; expected: Judgement }>

  private constructor(
    fleet: string,
    guests: FleetGuests,
    judges: ReadonlyMap<string, { judge: Judge; expected: Judgement }>,
  ) {
    this.#guests = guests
    // Namespaces, which outlive a process, and guests of one process, which do not.
    this.#hosts = [guests.record, { ...guests.record, url: fleet }]
    this.#judges = judges
  }

  /** Learns the verdicts of one process. `fleet`: address of its processes. */
  static async prepare(fleet: string): Promise<FleetJudges> {
    const clients = writeClient(temporaryDirectory())
    const judges: [string, Judge][] = [
      ['explore, a right client', (host) => explored(clients.right, host)],
      ['explore, a wrong client', (host) => explored(clients.wrong, host)],
      ['certify, a right client', (host) => certifiedIn(clients.right, host)],
    ]
    const known = new Map<string, { judge: Judge; expected: Judgement }>()
    for (const [name, judge] of judges) known.set(name, { judge, expected: await judge() })
    return new FleetJudges(fleet, await FleetGuests.at(fleet), known)
  }

  /**
   * Judges again and again until it is over, at least once. `wrong`: verdicts that one process would not give, and that are not
   * inconclusive.
   */
  async judge(isOver: () => boolean): Promise<{ counts: Record<string, number>; wrong: string[] }> {
    const counts = { same: 0, inconclusive: 0, without_verdict: 0 }
    const wrong: string[] = []
    for (let turn = 0; turn === 0 || !isOver(); turn++) {
      for (const [name, { judge, expected }] of this.#judges) {
        const judgement = await judge(this.#hosts[turn % this.#hosts.length]).catch((error: unknown) => String(error))
        if (typeof judgement === 'string') {
          counts.without_verdict += 1
          console.log(`${name}: ${judgement}`)
          continue
        }
        const { verdict, found } = judgement
        if (verdict === 'inconclusive') counts.inconclusive += 1
        else if (verdict === expected.verdict) counts.same += 1
        else wrong.push(`${name}: ${verdict}, by one process ${expected.verdict}`)
        const unfounded = found.filter((one) => !expected.found.includes(one))
        wrong.push(...unfounded.map((one) => `${name} found what is not there: ${one}`))
      }
    }
    this.#guests.close()
    return { counts, wrong }
  }
}

async function explored(command: readonly string[], host: SandboxRecord | undefined): Promise<Judgement> {
  const exploration = await exploring(command, { ...TRIED, ...(host && { host }), env: ENV })
  const { verdict } = explorationSummary(exploration)
  const bad = exploration.results.filter(({ level }) => isBad(level))
  return {
    verdict,
    found: bad.flatMap(({ trial, outcome, findings }) => [
      `${trial.id}: ${outcome}`,
      ...findings.map(({ id }) => `${trial.id}: ${id}`),
    ]),
  }
}

async function certifiedIn(command: readonly string[], host: SandboxRecord | undefined): Promise<Judgement> {
  const scenarios = (await shippedScenarios()).filter(({ name }) => SCENARIOS.includes(name))
  const { evidence } = await certified(command, { ...TRIED, env: ENV, scenarios, ...(host && { host }) })
  const { verdict } = certificateSummary(evidence)
  const contradicted = evidence.findings.filter(({ outcome }) => outcome === 'contradicted')
  const astray = evidence.scenarios.flatMap(({ name, operations }) =>
    operations.filter(({ level }) => isBad(level)).map(({ outcome }) => `${name}: ${outcome}`),
  )
  return { verdict, found: [...contradicted.map(({ id }) => id), ...astray] }
}
