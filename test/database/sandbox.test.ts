import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner } from '../helpers/partner.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { ownConnection } from './rows.ts'

let server: Postgres
let sandbox: SandboxHandle

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(async () => {
  await sandbox?.stop() // undefined where there is no PostgreSQL
  await server?.stop()
})

/** Starts a sandbox on a database of this name. */
async function start(name: string, port = 0): Promise<SandboxHandle> {
  sandbox = await startSandbox({ port, confirmationDelay: 0, database: server.createDatabase(name) })
  return sandbox
}

/** At the same address: tokens are of their issuer. */
async function restart(name: string): Promise<SandboxHandle> {
  await sandbox.stop()
  return start(name, Number(new URL(sandbox.baseUrl).port))
}

/** A partner of a namespace that an earlier process made. */
const partnerOf = ({ tenants }: SandboxHandle) =>
  new Partner(Object.assign(Object.create(sandbox) as SandboxHandle, { tenants }))

async function control(path: string, body?: object) {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const answer = await fetch(`${sandbox.controlUrl}${path}`, init)
  return {
    status: answer.status,
    headers: answer.headers, // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
    body: (await answer.json()) as any,
  }
}

function rpc(method: string) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const headers = { 'content-type': 'application/json' }
  return fetch(new URL('/rpc/31337', sandbox.baseUrl), { method: 'POST', headers, body })
}

/** The amounts of all transactions, newest first, whose times fall. */
async function amountsOf(partner: Partner, user: string): Promise<string[]> {
  const { data } = (await partner.get(`end_users/${user}/transactions?limit=100`)).body
  const times = data.map(({ created_at }: { created_at: string }) => created_at)
  expect(times).toEqual(times.toSorted().reverse())
  return data.map(({ amount_changed }: { amount_changed: string }) => amount_changed)
}

async function expectSound(namespace = ''): Promise<void> {
  expect((await control(`${namespace}/audit`)).body).toMatchObject({ ok: true })
}

// Each test but the last goes on with the sandbox of the one before.
describe.skipIf(noPostgres !== undefined)(`a sandbox on a database${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  test('goes on after a stop: money, chain, tokens, cursors, hashes, retries, RPC paths and business time', async () => {
    const before = await start('one')
    const partner = new Partner(before)
    const portfolio = await partner.open('zoe')
    const key = '6c1f4f0e-3b7a-4c55-9a51-0d2f7f1c9e11'
    const first = await partner.deposit('zoe', portfolio, '1000', { key })
    for (const amount of ['2000', '3000']) await partner.deposit('zoe', portfolio, amount)
    expect((await partner.withdraw('zoe', portfolio, '500')).status).toBe(200)
    await before.clock.advance('20m')
    const { now } = (await control('/clock')).body
    const page = (await partner.get('end_users/zoe/transactions?limit=2')).body
    const amounts = await amountsOf(partner, 'zoe')
    const [listed] = (await partner.get('end_users/zoe/portfolios')).body.data
    const block = await before.chain.getBlock()
    const [rpc] = Object.values((await before.credentials()).rpc_urls).map((url) => new URL(url).pathname)
    const idpToken = await partner.idpToken()
    const { tenants } = before

    await restart('one')
    const after = partnerOf({ tenants } as SandboxHandle)
    expect(await amountsOf(after, 'zoe')).toEqual(amounts)
    const known = await after.get('end_users/zoe/portfolios', { headers: { authorization: `Bearer ${idpToken}` } })
    expect(known.body).toMatchObject({ data: [{ portfolio_id: portfolio, deposited: listed.deposited }] })
    const again = await after.deposit('zoe', portfolio, '1000', { key })
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
    expect(again.headers.get('idempotency-key-replay')).toBe('true')
    const next = (await after.get(`end_users/zoe/transactions?limit=2&starting_after=${page.next_cursor}`)).body
    expect(next.data.map((one: Record<string, string>) => one.amount_changed)).toEqual(amounts.slice(2, 4))
    expect(await sandbox.chain.getBlock({ blockHash: block.hash! })).toMatchObject({ number: block.number })
    expect(Object.values((await sandbox.credentials()).rpc_urls).map((url) => new URL(url).pathname)).toContain(rpc)
    expect(Date.parse((await control('/clock')).body.now)).toBeGreaterThanOrEqual(Date.parse(now))
    expect((await after.withdraw('zoe', portfolio, '1500')).status).toBe(200)
    await expectSound()
  })

  test('a reset is as durable as anything else', async () => {
    const partner = new Partner(sandbox)
    const portfolio = await partner.open('rita')
    await partner.deposit('rita', portfolio, '1000')
    expect((await control('/reset', {})).status).toBe(200)
    const other = new Partner(sandbox)
    await other.deposit('rita', await other.open('rita'), '3000')
    await restart('one')
    expect(await amountsOf(new Partner(sandbox), 'rita')).toEqual(['3000'])
    await expectSound()
  })

  test('while the database is away, writes are refused before anything is done, and reads go on until the lease ends', async () => {
    const partner = new Partner(sandbox)
    const portfolio = await partner.open('ada')
    await partner.deposit('ada', portfolio, '1000')
    await partner.get('end_users/ada/portfolios')
    await server.kill()
    onTestFinished(() => server.run().catch(() => undefined))
    const key = '6c1f4f0e-3b7a-4c55-9a51-0d2f7f1c9e12'
    await eventually(async () => {
      const { status, headers, body } = await partner.deposit('ada', portfolio, '2000', { key })
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '2'])
    })
    for (const answer of [
      await control('/clock', { advance: '1d' }),
      await control('/namespaces', { name: 'late' }),
      await control('/reset', {}),
      await rpc('eth_sendRawTransaction'),
      await rpc('evm_mine'),
    ]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d$/)])
    }
    await eventually(async () => expect((await partner.get('end_users/ada/portfolios')).status).toBe(503))
    expect((await fetch(`${sandbox.controlUrl}/health`)).status).toBe(200)

    await server.run()
    await eventually(async () => {
      expect((await partner.deposit('ada', portfolio, '2000', { key })).status).toBe(200)
    })
    expect(await amountsOf(partner, 'ada')).toEqual(['2000', '1000'])
    expect((await control('/clock', { advance: '1d' })).status).toBe(200)
    await eventually(() => expectSound()) // it is ready a moment later
    const client = await ownConnection(server.url('one'))
    const { rows } = await client.query('select name from yield_sandbox.namespace where not deleted')
    expect(rows).toEqual([{ name: 'default' }])
  })

  test('its namespaces go on as they were: made, copied, of a snapshot; a deleted one stays deleted', async () => {
    const before = sandbox
    const mine = await before.namespaces.create({ name: 'mine', clock: '2030-01-01T00:00:00Z' })
    const partner = new Partner(mine)
    const portfolio = await partner.open('zoe')
    await partner.deposit('zoe', portfolio, '1000')
    const copy = await before.namespaces.create({ name: 'copy', from: 'mine' })
    const restored = await before.namespaces.create({ name: 'restored', snapshot: await mine.snapshot() })
    await partner.deposit('zoe', portfolio, '2000')
    await mine.clock.advance('1d')
    const gone = await before.namespaces.create({ name: 'gone' })
    await gone.stop()

    await restart('one')
    expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default', 'copy', 'mine', 'restored'])
    expect(await amountsOf(partnerOf(mine), 'zoe')).toEqual(['2000', '1000'])
    expect(await amountsOf(partnerOf(copy), 'zoe')).toEqual(['1000'])
    expect(await amountsOf(partnerOf(restored), 'zoe')).toEqual(['1000'])
    expect((await control('/namespaces/mine/clock')).body).toMatchObject({ now: '2030-01-02T00:00:00.000Z' })
    expect((await control('/namespaces/gone/clock')).body).toMatchObject({ code: 'namespace_not_found' })
    for (const name of ['mine', 'copy', 'restored']) await expectSound(`/namespaces/${name}`)
    const anew = new Partner(await sandbox.namespaces.create({ name: 'gone' }))
    expect((await anew.get('end_users/zoe/portfolios')).body).toMatchObject({ code: 'end_user_not_found' })
  })

  test('business time goes on by the time that passes when the clock of the next machine is behind or ahead; a frozen one stays where it is', async () => {
    await sandbox?.stop()
    onTestFinished(() => void vi.restoreAllMocks())
    const { now } = Date
    /** Milliseconds by which the clock of the present machine is ahead. */
    let ahead = 120_000
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead)
    await start('clocks')
    const moveTo = async (next: number) => {
      await sandbox.stop()
      ahead = next
      return new Partner(await start('clocks'))
    }
    const businessTime = async () => Date.parse((await control('/clock')).body.now)
    for (const [user, next] of [
      ['behind', -120_000],
      ['ahead', 120_000],
    ] as const) {
      const partner = new Partner(sandbox)
      const portfolio = await partner.open(user)
      await partner.deposit(user, portfolio, '1000')
      const block = await sandbox.chain.getBlock()
      const [before, at] = [await businessTime(), performance.now()]
      const later = await moveTo(next)
      const passed = performance.now() - at
      const after = await businessTime()
      expect(after, user).toBeGreaterThanOrEqual(before)
      expect(after - before - passed, user).toBeLessThan(60_000) // of the 240,000 by which the clocks differ
      await later.deposit(user, portfolio, '2000')
      expect(await amountsOf(later, user)).toEqual(['2000', '1000'])
      expect((await sandbox.chain.getBlock()).timestamp).toBeGreaterThanOrEqual(block.timestamp)
      await expectSound()
    }
    expect((await control('/clock', { freeze: true })).status).toBe(200)
    const frozen = (await control('/clock')).body
    await moveTo(240_000)
    expect(frozen).toMatchObject({ frozen: true })
    expect((await control('/clock')).body).toMatchObject({ now: frozen.now, frozen: true })
  })
})
