import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Credentials } from '../../src/control/contract.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetDoors } from './fleet-doors.ts'
import { FleetJudges } from './fleet-judges.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

/*
 * One process of three after another is killed, while clients move money in namespaces of their own and look at it. `npm run test:fleet`
 * runs it for longer: FLEET_MINUTES, FLEET_EVERY (seconds), FLEET_NAMESPACES, FLEET_CLIENTS, FLEET_SEED, FLEET_JUDGES.
 */
const { FLEET_MINUTES = '0.5', FLEET_EVERY = '5', FLEET_NAMESPACES = '3', FLEET_SEED = '1', FLEET_JUDGES } = process.env
const CLIENTS = Number(process.env.FLEET_CLIENTS ?? 2 * Number(FLEET_NAMESPACES))
const LENGTH_MS = Number(FLEET_MINUTES) * 60_000
const JUDGING_MS = 1_800_000

describe.skipIf(noPostgres)(`a fleet under fire${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  let doors: FleetDoors
  const processes: FleetProcess[] = []
  const random = new SeededRandom(Number(FLEET_SEED))
  const dice = (sides: number) => Math.floor(random.next('strikes') * sides)
  const urls = () => processes.map(({ url }) => url)
  const anyUrl = () => urls()[Math.floor(random.next('looks') * processes.length)] ?? ''
  const start = () => FleetProcess.start(server.url(), { publicUrl: doors.url })

  beforeAll(async () => {
    server = await Postgres.start()
    doors = await FleetDoors.open(urls)
    for (let count = 0; count < 3; count++) processes.push(await start())
  })
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.end()))
    await doors?.close()
    await server?.stop()
  })

  test(
    `of ${FLEET_MINUTES} minutes, seed ${FLEET_SEED}: nothing is lost, nothing is there twice, and all that was seen can be explained`,
    async () => {
      const judges = FLEET_JUDGES ? await FleetJudges.prepare(doors.url) : undefined
      const names = Array.from({ length: Number(FLEET_NAMESPACES) }, (_, at) => `team-${at}`)
      const clients: KeyedClient[] = []
      for (const [at, name] of names.entries()) {
        const made = (await post(`${urls()[at % 3]}/_sandbox/namespaces`, { name })) as Credentials
        const users = Math.max(1, Math.ceil(CLIENTS / names.length))
        for (let user = 0; user < users; user++) clients.push(new KeyedClient(urls, made, `user-${user}`))
      }
      await Promise.all(clients.map((client) => client.open()))
      const until = performance.now() + LENGTH_MS
      const isOver = () => performance.now() >= until
      const verdicts = judges?.judge(isOver)
      const work = Promise.all(Array.from({ length: CLIENTS }, (_, lane) => moveMoney(lane, clients, isOver)))
      const counts = { SIGKILL: 0, SIGTERM: 0, SIGSTOP: 0 }
      while (!isOver()) {
        await sleep(Number(FLEET_EVERY) * 1_000)
        counts[await strike()]++
      }
      await work
      const judged = await verdicts
      for (const [at, client] of clients.entries()) await client.expectAllOnce(urls()[at % 3]!)
      for (const [at, name] of names.entries()) {
        const audit = await fetch(`${urls()[at % 3]}/_sandbox/namespaces/${name}/audit`)
        expect(await audit.json(), name).toMatchObject({ ok: true })
      }
      for (const url of urls()) {
        const all = (await (await fetch(`${url}/_sandbox/namespaces`)).json()) as { name: string }[]
        expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['default', ...names]))
      }
      const done = clients.reduce((sum, client) => sum + client.done.size, 0)
      const seen = clients.reduce((sum, client) => sum + client.history.length, 0)
      const longest_wait_ms = Math.round(Math.max(...clients.map(({ longest }) => longest)))
      console.log({
        transfers: done,
        requests: seen,
        ...counts,
        longest_wait_ms,
        ...(judged && { judged: judged.counts }),
      })
      expect(judged?.wrong ?? []).toEqual([])
    },
    LENGTH_MS + (FLEET_JUDGES ? JUDGING_MS : 0) + 180_000 + Number(FLEET_NAMESPACES) * 5_000,
  )

  /** One client after another of a lane: a transfer, every fourth of each a withdrawal, and a look. */
  async function moveMoney(lane: number, clients: readonly KeyedClient[], isOver: () => boolean): Promise<void> {
    const own = clients.filter((_, at) => at % CLIENTS === lane)
    for (let turn = 0; !isOver(); turn++) {
      const client = own[turn % own.length]!
      if (client.done.size % 4 === 3) await client.withdraw(1 + (turn % 200))
      else await client.deposit(1_000 + turn)
      await client.look(turn % 2 === 0 ? 'principal' : 'transactions', anyUrl())
    }
  }

  /** Ends a process, or lets it stand still for longer than its lease; three run afterwards. */
  async function strike(): Promise<'SIGKILL' | 'SIGTERM' | 'SIGSTOP'> {
    const at = dice(processes.length)
    const struck = processes[at]!
    const signal = (['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGSTOP'] as const)[dice(4)]!
    if (signal === 'SIGSTOP') {
      struck.signal('SIGSTOP')
      await sleep(4_000)
      struck.signal('SIGCONT')
      return signal
    }
    await struck.end(signal)
    processes[at] = await start()
    return signal
  }
})

async function post(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
