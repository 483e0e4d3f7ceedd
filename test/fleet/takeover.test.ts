import { expect, test } from 'vitest'
import { audit, fleetThatLosesItsLeader } from './leader-loss.ts'
import { KeyedClient } from './processes.ts'

// Killed, and standing still: takeover.long.test.ts.
fleetThatLosesItsLeader(({ two }) => {
  test('that ends in order: another one serves within a second or two, and no request is refused', async () => {
    const [leader, standby] = await two()
    const client = new KeyedClient(() => [standby.url], leader.credentials, 'eve')
    await client.open()
    await client.deposit(1_000)
    const ended = leader.end('SIGTERM')
    await client.deposit(1_001)
    expect(await ended).toBe(0)
    expect(standby.leads).toBe(true)
    await client.expectAllOnce(standby.url)
    expect(await audit(standby)).toMatchObject({ ok: true })
  })
})
