import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { Credentials } from '../../src/control/contract.ts'
import { ownConnection } from '../database/rows.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FakedClock, type FakedClocks, noFaketime } from './faked-clock.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

const HOUR = 3_600_000
/** Number of looks at a process that goes on. */
const LOOKS = 20
const leftOut = noPostgres ?? noFaketime

describe.skipIf(leftOut)(`the clocks of a process of a fleet${leftOut ? ` (${leftOut})` : ''}`, () => {
  let server: Postgres
  let databases = 0
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())

  /** A process whose clocks are faked, and one beside it. */
  const fleet = async (which: FakedClocks, speed?: number) => {
    const url = server.createDatabase(`jumps_${databases++}`)
    const clock = new FakedClock(which, speed)
    const odd = await FleetProcess.start(url, { env: clock.env })
    const even = await FleetProcess.start(url)
    onTestFinished(async () => {
      await Promise.all([odd.end(), even.end()])
      clock.remove(odd.child.pid)
    })
    onTestFailed(() => console.error([...odd.log, '', ...even.log].join('\n')))
    const create = ({ url }: FleetProcess, name: string) => new ControlClient(url).createNamespace({ name })
    await create(odd, 'quiet') // in which nothing is written
    return { url, clock, odd, even, ofOdd: await create(odd, 'odd'), ofEven: await create(even, 'even') }
  }
  const client = async (user: string, credentials: Credentials, ...processes: FleetProcess[]) => {
    const made = new KeyedClient(() => processes.map(({ url }) => url), credentials, user)
    await made.open()
    return made
  }

  test.each<[string, FakedClocks, number[], number?]>([
    ['its wall clock goes forward by an hour, and back again', 'wall', [HOUR, 0]],
    ['its wall clock goes back by an hour, and forward again', 'wall', [-HOUR, 0]],
    ['all its clocks go forward by an hour', 'all', [HOUR]],
    ['all its clocks are a tenth faster', 'all', [], 1.1],
    ['all its clocks are a tenth slower', 'all', [], 0.9],
  ])('%s: every transfer is there once, and business time never goes back', async (_, which, jumps, speed) => {
    const { url, clock, odd, even, ofOdd, ofEven } = await fleet(which, speed)
    const clients = [
      await client('ann', ofOdd, odd, even),
      await client('ben', ofOdd, even, odd),
      await client('cat', ofEven, odd, even),
    ]
    const over = new AbortController()
    let asked = [odd, even]
    const work = clients.map(async (client) => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        if (turn % 4 === 3) await client.withdraw(1 + turn)
        else await client.deposit(1_000 + turn)
        await client.look(turn % 2 ? 'principal' : 'transactions', asked[turn % asked.length]!.url)
      }
    })
    const times = ['odd', 'even', 'quiet'].map(async (name) => {
      const seen: number[] = []
      for (let turn = 0; !over.signal.aborted; turn++) {
        const moment = await businessTime(asked[turn % asked.length]!, name)
        if (moment !== undefined) seen.push(moment)
        await sleep(20)
      }
      return seen
    })
    const transfersOfAll = async (count: number) => {
      const before = clients.map(({ done }) => done.size)
      await eventually(() => {
        for (const [at, { done }] of clients.entries()) expect(done.size - before[at]!).toBeGreaterThanOrEqual(count)
      })
    }
    await transfersOfAll(5)
    for (const jump of jumps) {
      clock.set(jump)
      await transfersOfAll(10)
    }
    await transfersOfAll(5)
    if (jumps.length > 0) await leadIsStored(url, 'quiet')
    expect(odd.log.join('\n')).not.toMatch(/serves it no more/)
    asked = [even]
    await odd.end()
    await transfersOfAll(5)
    over.abort()
    await Promise.all(work)
    for (const seen of await Promise.all(times)) {
      expect(seen.length).toBeGreaterThan(10)
      expect(seen).toEqual(seen.toSorted((one, other) => one - other))
    }
    for (const client of clients) await client.expectAllOnce(even.url)
    for (const name of ['odd', 'even', 'quiet']) expect(await new ControlClient(even.url).in(name).audit()).toMatchObject({ ok: true })
  })

  test.each<[string, FakedClocks]>([
    ['its monotonic clock shows it, and its wall clock was set back by as much', 'wall'],
    ['its wall clock shows it, and its monotonic clock stood still as well', 'monotonic'],
  ])('it stands still for longer than its lease, %s: it answers nothing that is not true any more', async (_, which) => {
    const { clock, odd, even, ofOdd } = await fleet(which)
    const asked = [odd]
    const writer = new KeyedClient(() => asked.map(({ url }) => url), ofOdd, 'ann')
    await writer.open()
    await writer.deposit(1_000)
    await writer.look('principal', odd.url)
    odd.signal('SIGSTOP')
    const since = performance.now()
    asked[0] = even
    await writer.deposit(1)
    expect(even.has('odd')).toBe(true)
    // It has these to answer when it goes on, and cannot ask the database.
    const looks = Array.from({ length: LOOKS }, (_, at) => writer.look(at % 2 ? 'principal' : 'transactions', odd.url))
    await sleep(100)
    server.pause()
    clock.set(since - performance.now())
    odd.signal('SIGCONT')
    await Promise.all(looks)
    server.resume()
    for (let at = 0; at < LOOKS; at++) await writer.look(at % 2 ? 'principal' : 'transactions', odd.url)
    await eventually(() => expect(odd.log.join('\n')).toMatch(/serves it no more/))
    await writer.deposit(2)
    for (const { url } of [even, odd]) await writer.expectAllOnce(url)
    for (const { url } of [even, odd]) expect(await new ControlClient(url).in('odd').audit()).toMatchObject({ ok: true })
  })
})

/** Resolves when it is stored that the business time of the namespace leads by an hour. */
async function leadIsStored(url: string, namespace: string): Promise<void> {
  const client = await ownConnection(url)
  await eventually(async () => {
    const { rows } = await client.query('select manifest from yield_sandbox.namespace where name = $1', [namespace])
    expect(rows[0].manifest.clock.offset).toBeGreaterThan(HOUR - 1_000)
  })
}

async function businessTime({ url }: FleetProcess, namespace: string): Promise<number | undefined> {
  const answer = await fetch(`${url}/_sandbox/namespaces/${namespace}/clock`).catch(() => undefined)
  if (!answer?.ok) return undefined
  const { now } = (await answer.json()) as { now: string }
  return Date.parse(now)
}
