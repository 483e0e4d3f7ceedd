import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Credentials } from '../../src/control/contract.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

/*
 * One process of three after another is killed, while clients deposit in namespaces of their own. `npm run test:fleet` runs it for longer:
 * FLEET_MINUTES, FLEET_EVERY (seconds), FLEET_NAMESPACES, FLEET_SEED.
 */
const { FLEET_MINUTES = '0.5', FLEET_EVERY = '5', FLEET_NAMESPACES = '3', FLEET_SEED = '1' } = process.env
const LENGTH_MS = Number(FLEET_MINUTES) * 60_000

describe.skipIf(noPostgres)(`a fleet under fire${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  const processes: FleetProcess[] = []
  const random = new SeededRandom(Number(FLEET_SEED))
  const dice = (sides: number) => Math.floor(random.next('strikes') * sides)

  beforeAll(async () => {
    server = await Postgres.start()
    for (let count = 0; count < 3; count++) processes.push(await FleetProcess.start(server.url()))
  })
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.end()))
    await server?.stop()
  })

  test(
    `of ${FLEET_MINUTES} minutes, seed ${FLEET_SEED}: nothing is lost and nothing is there twice`,
    async () => {
      const urls = () => processes.map(({ url }) => url)
      const clients: KeyedClient[] = []
      const names = Array.from({ length: Number(FLEET_NAMESPACES) }, (_, at) => `team-${at}`)
      for (const [at, name] of names.entries()) {
        const made = (await post(`${urls()[at % 3]}/_sandbox/namespaces`, { name })) as Credentials
        clients.push(...['ann', 'ben'].map((user) => new KeyedClient(urls, made, user)))
      }
      await Promise.all(clients.map((client) => client.open()))
      const until = performance.now() + LENGTH_MS
      const work = clients.map(async (client) => {
        for (let amount = 1_000; performance.now() < until; amount++) await client.deposit(amount)
      })
      const counts = { SIGKILL: 0, SIGTERM: 0, SIGSTOP: 0 }
      while (performance.now() < until) {
        await sleep(Number(FLEET_EVERY) * 1_000)
        counts[await strike()]++
      }
      await Promise.all(work)
      for (const [at, client] of clients.entries()) await client.expectAllOnce(urls()[at % 3]!)
      for (const [at, name] of names.entries()) {
        const audit = await fetch(`${urls()[at % 3]}/_sandbox/namespaces/${name}/audit`)
        expect(await audit.json(), name).toMatchObject({ ok: true })
      }
      for (const url of urls()) {
        const all = (await (await fetch(`${url}/_sandbox/namespaces`)).json()) as { name: string }[]
        expect(all.map(({ name }) => name).toSorted()).toEqual(['default', ...names].toSorted())
      }
      const done = clients.reduce((sum, client) => sum + client.done.size, 0)
      const waits = clients.map(({ longest }) => Math.round(longest))
      console.log({ deposits: done, ...counts, longest_wait_ms: Math.max(...waits) })
    },
    LENGTH_MS + 180_000,
  )

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
    processes[at] = await FleetProcess.start(server.url())
    return signal
  }
})

async function post(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
