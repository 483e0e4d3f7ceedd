import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { ownConnection } from '../database/rows.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FakedClock, type FakedClocks, noFaketime } from './faked-clock.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

const HOUR = 3_600_000
/** Number of looks at a process that goes on. */
const LOOKS = 20
const NAMESPACES = ['odd', 'even', 'quiet']
const leftOut = noPostgres ?? noFaketime

describe.skipIf(leftOut)(`the clocks of a process of a fleet${leftOut ? ` (${leftOut})` : ''}`, () => {
  let server: Postgres
  let databases = 0
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())

  /** A process whose clocks are faked, one beside it, and a namespace of each. In another one of the first nothing is written. */
  const fleet = async (which: FakedClocks, speed?: number) => {
    const url = server.createDatabase(`jumps_${databases++}`)
    const clock = new FakedClock(which, speed)
    const odd = await FleetProcess.start(url, { environment: clock.environment })
    const even = await FleetProcess.start(url)
    onTestFinished(async () => {
      await Promise.all([odd.end(), even.end()])
      clock.remove(odd.child.pid)
    })
    onTestFailed(() => console.error([...odd.log, '', ...even.log].join('\n')))
    const create = ({ url }: FleetProcess, name: string) => new ControlClient(url).createNamespace({ name })
    await create(odd, 'quiet')
    return { url, clock, odd, even, ofOdd: await create(odd, 'odd'), ofEven: await create(even, 'even') }
  }
  const expectAudits = async ({ url }: FleetProcess) => {
    for (const name of NAMESPACES) expect(await new ControlClient(url).in(name).audit()).toMatchObject({ ok: true })
  }

  test.each<[string, FakedClocks, number[], number?]>([
    ['its wall clock goes forward by an hour, and back again', 'wall', [HOUR, 0]],
    ['its wall clock goes back by an hour, and forward again', 'wall', [-HOUR, 0]],
    ['all its clocks go forward by an hour', 'all', [HOUR]],
    ['all its clocks are a tenth faster', 'all', [], 1.1],
    ['all its clocks are a tenth slower', 'all', [], 0.9],
  ])(
    '%s: it goes on, every transfer is there once, and business time never goes back',
    async (_, which, jumps, speed) => {
      const { url, clock, odd, even, ofOdd, ofEven } = await fleet(which, speed)
      const addresses = [odd.url, even.url]
      const clients = [
        new KeyedClient(() => addresses, ofOdd, 'ann'),
        new KeyedClient(() => addresses.toReversed(), ofOdd, 'ben'),
        new KeyedClient(() => addresses, ofEven, 'cat'),
      ]
      for (const client of clients) await client.open()
      const over = new AbortController()
      const work = clients.map((client) => moveMoney(client, addresses, over.signal))
      const times = NAMESPACES.map((name) => watchTime(name, addresses, over.signal))
      await transfers(clients, 5)
      for (const jump of jumps) {
        clock.set(jump)
        await transfers(clients, 10)
      }
      if (speed) await runsAt(speed, odd.url)
      if (jumps.length > 0) await isStoredAhead(url, 'quiet')
      await transfers(clients, 5)
      expect(odd.log.join('\n')).not.toMatch(/serves it no more/)
      addresses.shift()
      await odd.end()
      await transfers(clients, 5)
      over.abort()
      await Promise.all(work)
      for (const seen of await Promise.all(times)) {
        expect(seen.length).toBeGreaterThan(10)
        expect(seen).toEqual(seen.toSorted((one, other) => one - other))
      }
      for (const client of clients) await client.expectAllOnce(even.url)
      await expectAudits(even)
    },
  )

  test.each<[string, FakedClocks]>([
    ['its monotonic clock shows it, and its wall clock was set back by as much', 'wall'],
    ['its wall clock shows it, and its monotonic clock stood still as well', 'monotonic'],
  ])(
    'it stands still for longer than its lease, %s: it answers nothing that is not true any more',
    async (_, which) => {
      const { clock, odd, even, ofOdd } = await fleet(which)
      const addresses = [odd.url]
      const writer = new KeyedClient(() => addresses, ofOdd, 'ann')
      const look = (_: unknown, at: number) => writer.look(at % 2 ? 'principal' : 'transactions', odd.url)
      await writer.open()
      await writer.deposit(1_000)
      odd.signal('SIGSTOP')
      const since = performance.now()
      addresses[0] = even.url
      await writer.deposit(1)
      expect(even.has('odd')).toBe(true)
      // It has these to answer when it goes on, and cannot ask the database.
      const looks = Array.from({ length: LOOKS }, look)
      server.pause()
      clock.set(since - performance.now())
      odd.signal('SIGCONT')
      await Promise.all(looks)
      server.resume()
      await Promise.all(Array.from({ length: LOOKS }, look))
      await eventually(() => expect(odd.log.join('\n')).toMatch(/serves it no more/))
      await writer.deposit(2)
      for (const { url } of [even, odd]) await writer.expectAllOnce(url)
      await expectAudits(odd)
    },
  )
})

/** Transfers and looks at any of the addresses, until it is over. */
async function moveMoney(client: KeyedClient, addresses: readonly string[], over: AbortSignal): Promise<void> {
  for (let turn = 0; !over.aborted; turn++) {
    if (turn % 4 === 3) await client.withdraw(1 + turn)
    else await client.deposit(1_000 + turn)
    await client.look(turn % 2 ? 'principal' : 'transactions', addresses[turn % addresses.length]!)
  }
}

/** Resolves when each client has made so many more transfers. */
async function transfers(clients: readonly KeyedClient[], count: number): Promise<void> {
  const enough = clients.map(({ done }) => done.size + count)
  await eventually(() => {
    for (const [at, { done }] of clients.entries()) expect(done.size).toBeGreaterThanOrEqual(enough[at]!)
  })
}

/** Business time of a namespace, as it was answered at one of the addresses after the other until it was over. */
async function watchTime(namespace: string, addresses: readonly string[], over: AbortSignal): Promise<number[]> {
  const seen: number[] = []
  for (let turn = 0; !over.aborted; turn++) {
    const now = await businessTime(addresses[turn % addresses.length]!, namespace)
    if (now !== undefined) seen.push(now)
    await sleep(20)
  }
  return seen
}

async function businessTime(url: string, namespace: string): Promise<number | undefined> {
  const answer = await fetch(`${url}/_sandbox/namespaces/${namespace}/clock`).catch(() => undefined)
  if (!answer?.ok) return undefined
  const { now } = (await answer.json()) as { now: string }
  return Date.parse(now)
}

/** Resolves when it is certain that business time is faster, or slower, than the test's own. */
async function runsAt(speed: number, url: string): Promise<void> {
  const read = async () => {
    const begin = performance.now()
    const now = await businessTime(url, 'quiet')
    return { begin, now: now ?? Number.NaN, end: performance.now() }
  }
  const first = await read()
  await eventually(async () => {
    const last = await read()
    if (speed > 1) expect(last.now - first.now).toBeGreaterThan(last.end - first.begin)
    else expect(last.now - first.now).toBeLessThan(last.begin - first.end)
  })
}

/** Resolves when it is stored that business time leads over the database's by an hour, as after each of the jumps. */
async function isStoredAhead(url: string, namespace: string): Promise<void> {
  const client = await ownConnection(url)
  await eventually(async () => {
    const { rows } = await client.query('select manifest from yield_sandbox.namespace where name = $1', [namespace])
    expect(rows[0].manifest.clock.offset).toBeGreaterThan(HOUR - 1_000)
  })
}
