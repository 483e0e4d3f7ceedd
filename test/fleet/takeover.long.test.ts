import { expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { audit, fleetThatLosesItsLeader } from './leader-loss.ts'
import { type FleetProcess, KeyedClient } from './processes.ts'

fleetThatLosesItsLeader(({ start, two }) => {
  test('that is killed while clients deposit: each deposit is there once', async () => {
    const [leader, standby] = await two()
    expect(standby.credentials).toEqual(leader.credentials)
    const clients = ['ann', 'ben', 'cat', 'dan'].map(
      (user, at) =>
        new KeyedClient(
          () => (at % 2 ? [leader.url, standby.url] : [standby.url, leader.url]),
          leader.credentials,
          user,
        ),
    )
    for (const client of clients) await client.open()
    const third = await start()
    let killed = false
    const work = clients.map(async (client) => {
      for (
        let amount = 1;
        amount <= 200 && !(killed && third.leads !== standby.leads && client.done.size > 20);
        amount++
      ) {
        await client.deposit(1_000 + amount)
      }
    })
    await eventually(() => expect(Math.min(...clients.map(({ done }) => done.size))).toBeGreaterThan(3))
    await leader.end('SIGKILL')
    killed = true
    await Promise.all(work)
    expect([standby, third].filter(({ leads }) => leads)).toHaveLength(1)
    for (const process of [standby, third]) {
      for (const client of clients) await client.expectAllOnce(process.url)
      expect(await audit(process)).toMatchObject({ ok: true })
      expect(await report(process)).toMatchObject({
        verdict: 'inconclusive',
        unmet: expect.arrayContaining([expect.stringContaining('the record begins with a takeover')]),
      })
    }
  })

  test('that stands still: what it answers when it goes on is not stale, and it passes on from then on', async () => {
    const [leader, standby] = await two()
    const client = new KeyedClient(() => [standby.url], leader.credentials, 'fay')
    await client.open()
    await client.deposit(1_000)
    leader.signal('SIGSTOP')
    // Sent while it stands still, and answered when it goes on.
    const early = client.depositedAt(leader.url)
    await client.deposit(1_001)
    expect(standby.leads).toBe(true)
    leader.signal('SIGCONT')
    expect(['2001', 503, 'no answer']).toContain(await early)
    await eventually(() => expect(leader.log.join()).toContain('serves it no more'))
    await client.deposit(1_002)
    await eventually(() => client.expectAllOnce(leader.url))
    await client.expectAllOnce(standby.url)
    await standby.end('SIGKILL')
    await eventually(() => client.expectAllOnce(leader.url))
    expect(leader.leads).toBe(true)
  })
})

async function report({ url }: FleetProcess): Promise<unknown> {
  return (await fetch(`${url}/_sandbox/report`)).json()
}
