import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { FleetProcess, KeyedClient } from '../fleet/processes.ts'
import { CuttingProxy } from '../helpers/cutting-proxy.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { SandboxProcess } from '../reliability/harness/sandbox-process.ts'

const LOST =
  /namespace default: the database has lost the last (?:\d+ commits|commit) of this namespace, which it had acknowledged; what it still has is loaded again\. Fix: /

/** A primary, and the address under which clients find whichever server is it. */
async function primary(): Promise<{ server: Postgres; proxy: CuttingProxy; url: string }> {
  const server = await Postgres.start()
  const proxy = await CuttingProxy.before(server.port)
  onTestFinished(async () => {
    await proxy.close()
    await server.stop()
  })
  return { server, proxy, url: server.url('postgres', proxy.port) }
}

/** Ends with the test. */
async function kept(copy: Promise<Postgres>): Promise<Postgres> {
  const server = await copy
  onTestFinished(() => server.stop())
  return server
}

async function processOn(url: string): Promise<FleetProcess> {
  const process = await FleetProcess.start(url)
  onTestFinished(() => void process.end())
  onTestFailed(() => console.error(process.log.join('\n')))
  return process
}

/** A busy database may be slower than the lease lasts: then the audit is refused for a moment. */
async function expectSound(baseUrl: string): Promise<void> {
  const { ok, checks } = await eventually(() => new ControlClient(baseUrl).audit())
  expect(ok, JSON.stringify(checks)).toBe(true)
}

describe.skipIf(noPostgres !== undefined)(`another PostgreSQL answers${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  test('after a failover to a synchronous standby: deposits go on, and each that was answered is there once', async () => {
    const { server, proxy, url } = await primary()
    const standby = await kept(server.standby({ synchronous: true }))
    const process = await processOn(url)
    const users = ['ann', 'ben', 'cat', 'dan']
    const clients = users.map((user) => new KeyedClient(() => [process.url], process.credentials, user))
    for (const client of clients) await client.open()
    let ended = false
    const work = clients.map(async (client) => {
      for (let amount = 1_000; !ended; amount++) await client.deposit(amount)
    })
    const fewest = () => Math.min(...clients.map(({ done }) => done.size))
    await eventually(() => expect(fewest()).toBeGreaterThan(5))
    await server.kill()
    await standby.promote()
    const before = fewest()
    proxy.leadTo(standby.port)
    await eventually(() => expect(fewest()).toBeGreaterThan(before + 5))
    ended = true
    await Promise.all(work)
    for (const client of clients) await client.expectAllOnce(process.url)
    await expectSound(process.url)
    expect(process.log.join()).not.toContain('has lost')
  })

  test('after one to a standby that lacks the tail: that is said, and what is lost is not answered either', async () => {
    const { server, proxy, url } = await primary()
    const standby = await kept(server.standby({ synchronous: false }))
    const process = await processOn(url)
    const client = new KeyedClient(() => [process.url], process.credentials, 'ann')
    await client.open()
    await client.deposit(1_000)
    const head = async (at: Postgres) => Number((await at.ask('select head from yield_sandbox.namespace'))[0]?.head)
    const reached = await head(server)
    await eventually(async () => expect(await head(standby)).toBeGreaterThanOrEqual(reached))
    await standby.kill()
    await client.deposit(2_000)
    expect(await client.depositedAt(process.url)).toBe('3000')
    await server.kill()
    await eventually(async () => expect(await client.depositedAt(process.url)).toBe(503)) // its lease has ended

    await standby.run()
    await standby.promote()
    proxy.leadTo(standby.port)
    const seen: unknown[] = []
    await eventually(async () => {
      seen.push(await client.depositedAt(process.url))
      expect(seen.at(-1)).toBe('1000')
    })
    expect(seen).not.toContain('3000')
    expect(process.log.join('\n')).toMatch(LOST)
    await client.deposit(500)
    expect(await client.depositedAt(process.url)).toBe('1500')
    const other = new KeyedClient(() => [process.url], process.credentials, 'ben')
    await other.open()
    await other.deposit(1_000)
    await other.expectAllOnce(process.url)
    await expectSound(process.url)
  })

  test('that is a restored backup: the sandbox says what is lost and ends, and the next start goes on from the backup', async () => {
    const { server, proxy, url } = await primary()
    const sandbox = new SandboxProcess({ kept: false, flags: ['--database', url] })
    onTestFinished(() => sandbox.dispose())
    onTestFailed(() => console.error(sandbox.log))
    const command = sandbox.begin('0')
    const partner = partnerAt(await command.credentials())
    const portfolio = await partner.open('zoe')
    await partner.deposit('zoe', portfolio, '1000')
    const backup = await kept(server.copy())
    await partner.deposit('zoe', portfolio, '2000')
    await server.kill()
    await backup.run()
    proxy.leadTo(backup.port)
    const { code, stderr } = await command.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(LOST)
    expect(stderr).toMatch(/which it had acknowledged\. This process serves it no more\./)

    const again = await sandbox.start('0')
    const { data } = (await partnerAt(again).get('end_users/zoe/transactions')).body
    expect(data).toMatchObject([{ type: 'deposit', amount_changed: '1000' }])
    await expectSound(again.base_url)
  })
})
