import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Credentials } from '../../src/control/contract.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess, KeyedClient } from './processes.ts'

describe.skipIf(noPostgres)(`a fleet loses a process${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())

  const start = async () => {
    const process = await FleetProcess.start(server.url())
    onTestFinished(() => void process.end())
    return process
  }
  /** The first one has the default namespace. */
  const two = async (): Promise<[FleetProcess, FleetProcess]> => {
    const owner = await start()
    const other = await start()
    expect([owner, other].map((process) => process.has('default'))).toEqual([true, false])
    return [owner, other]
  }
  const create = async ({ url }: FleetProcess, name: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/_sandbox/namespaces`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name }),
    })
    expect(answer.status).toBe(201)
    return (await answer.json()) as Credentials
  }

  test('that is killed while clients deposit: each deposit is there once, and what others have goes on undisturbed', async () => {
    const [owner, other] = await two()
    expect(other.credentials).toEqual(owner.credentials)
    const third = await start()
    const apart = new KeyedClient(() => [other.url, third.url], await create(third, 'apart'), 'zoe')
    const clients = ['ann', 'ben', 'cat', 'dan'].map(
      (user, at) =>
        new KeyedClient(() => (at % 2 ? [owner.url, other.url] : [other.url, owner.url]), owner.credentials, user),
    )
    for (const client of [...clients, apart]) await client.open()
    let killed = false
    const work = [...clients, apart].map(async (client) => {
      const isEnough = () => killed && [other, third].some((process) => process.has('default')) && client.done.size > 20
      for (let amount = 1; amount <= 200 && !isEnough(); amount++) await client.deposit(1_000 + amount)
    })
    await eventually(() => expect(Math.min(...clients.map(({ done }) => done.size))).toBeGreaterThan(3))
    await owner.end('SIGKILL')
    killed = true
    await Promise.all(work)
    expect([other, third].filter((process) => process.has('default'))).toHaveLength(1)
    expect(apart.again).toBe(0)
    for (const process of [other, third]) {
      for (const client of [...clients, apart]) await client.expectAllOnce(process.url)
      expect(await ask(process, 'audit')).toMatchObject({ ok: true })
      expect(await ask(process, 'report')).toMatchObject({
        verdict: 'inconclusive',
        unmet: expect.arrayContaining([expect.stringContaining('the record begins with a takeover')]),
      })
      expect(await ask(process, 'namespaces/apart/audit')).toMatchObject({ ok: true })
      expect(JSON.stringify(await ask(process, 'namespaces/apart/report'))).not.toContain('takeover')
    }
  })

  test('that ends in order: another one serves within a second or two, and no request is refused', async () => {
    const [owner, other] = await two()
    const client = new KeyedClient(() => [other.url], owner.credentials, 'eve')
    await client.open()
    await client.deposit(1_000)
    let running = true
    const ended = owner.end('SIGTERM').finally(() => {
      running = false
    })
    for (let amount = 1_001; running; amount++) await client.deposit(amount)
    expect(await ended).toBe(0)
    expect(client.again).toBe(0)
    await client.expectAllOnce(other.url)
    expect(other.has('default')).toBe(true)
    expect(await ask(other, 'audit')).toMatchObject({ ok: true })
  })

  test('that stands still: what it answers when it goes on is not stale, and it passes on from then on', async () => {
    const [owner, other] = await two()
    const client = new KeyedClient(() => [other.url], owner.credentials, 'fay')
    await client.open()
    await client.deposit(1_000)
    owner.signal('SIGSTOP')
    // Sent while it stands still, and answered when it goes on.
    const early = client.depositedAt(owner.url)
    await client.deposit(1_001)
    expect(other.has('default')).toBe(true)
    owner.signal('SIGCONT')
    expect(['2001', 503, 'no answer']).toContain(await early)
    await eventually(() => expect(owner.log.join()).toContain('serves it no more'))
    await client.deposit(1_002)
    await eventually(() => client.expectAllOnce(owner.url))
    await client.expectAllOnce(other.url)
    await other.end('SIGKILL')
    await eventually(() => client.expectAllOnce(owner.url))
    expect(owner.has('default')).toBe(true)
  })
})

async function ask({ url }: FleetProcess, path: string): Promise<unknown> {
  return (await fetch(`${url}/_sandbox/${path}`)).json()
}
