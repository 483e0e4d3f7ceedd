import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7 })
})
afterAll(() => sandbox.stop())

const control = (path: string, init: RequestInit = {}) =>
  fetch(new URL(`/_sandbox/${path}`, sandbox.baseUrl), {
    ...init,
    ...(init.body !== undefined && { headers: { 'content-type': 'application/json' } }),
  })
const create = (wish: unknown) => control('namespaces', { method: 'POST', body: JSON.stringify(wish) })

test('its credentials choose it', async () => {
  await using mine = await sandbox.namespaces.create({ name: 'mine' })
  const [ours, theirs] = [new Partner(mine), new Partner(sandbox)]
  const created = await ours.post('end_users', { external_id: 'only-mine' })
  expect(created.status).toBe(201)
  expect((await ours.get('end_users/only-mine/portfolios')).status).toBe(200)
  expect((await theirs.get('end_users/only-mine/portfolios')).body).toMatchObject({ code: 'end_user_not_found' })
  expect(mine.tenants[0]).toMatchObject({ slug: 'acme', tenant_id: sandbox.tenants[0]!.tenant_id })
  expect(mine.tenants[0]!.client_id).not.toBe(sandbox.tenants[0]!.client_id)
  expect(mine.tenants[0]!.client_secret).not.toBe(sandbox.tenants[0]!.client_secret)
})

test('a client that authenticates by HTTP Basic, encoded to the last hyphen, is led to it', async () => {
  await using mine = await sandbox.namespaces.create()
  const { client_id, client_secret } = mine.tenants[0]!
  const encoded = [client_id, client_secret].map((text) =>
    encodeURIComponent(text).replace(/[-_]/g, (c) => `%${c.charCodeAt(0).toString(16)}`),
  )
  const { scope } = await mine.credentials()
  const response = await fetch(mine.authUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(encoded.join(':')).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  })
  expect(response.status).toBe(200)
})

test('a token of a deleted one is answered 401 unknown_partner', async () => {
  const mine = await sandbox.namespaces.create()
  const partner = new Partner(mine)
  expect((await partner.get('pools')).status).toBe(200)
  await mine.stop()
  expect(await partner.get('pools')).toMatchObject({ status: 401, body: { code: 'unknown_partner' } })
  expect((await control(`namespaces/${mine.namespace}/clock`)).status).toBe(404)
})

test('its clock, faults and reset are its own', async () => {
  await using mine = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z' })
  await mine.clock.advance('90d')
  expect(await mine.clock.iso()).toBe('2030-04-01T00:00:00.000Z')
  expect(await sandbox.clock.state()).toMatchObject({ offset_seconds: 0, frozen: false })
  await mine.faults.add({
    kind: 'error',
    match: { operation: 'list_pools' },
    times: 'always',
    with: { code: 'rate_limited' },
  })
  expect((await new Partner(mine).get('pools')).status).toBe(429)
  expect((await new Partner(sandbox).get('pools')).status).toBe(200)
  const theirs = new Partner(sandbox)
  await theirs.post('end_users', { external_id: 'survivor' })
  await mine.reset()
  expect(await mine.clock.iso()).toBe('2030-01-01T00:00:00.000Z')
  expect((await new Partner(mine).get('pools')).status).toBe(200)
  expect((await theirs.get('end_users/survivor/portfolios')).status).toBe(200)
})

test('a cursor of another one is no cursor, whatever the seed', async () => {
  await using mine = await sandbox.namespaces.create({ seed: sandbox.seed })
  const page = (partner: Partner, query: string) => partner.get(`pools?limit=1${query}`)
  const cursor = (await page(new Partner(mine), '')).body.next_cursor
  expect((await page(new Partner(mine), `&starting_after=${cursor}`)).status).toBe(200)
  const foreign = await page(new Partner(sandbox), `&starting_after=${cursor}`)
  expect(foreign).toMatchObject({ status: 400, body: { code: 'cursor_invalid' } })
})

test('its chains have its money, at addresses of its own', async () => {
  await using mine = await sandbox.namespaces.create({ name: 'chains' })
  expect(Object.values((await mine.credentials()).rpc_urls)[0]).toMatch(/\/rpc\/chains\/31337$/)
  const before = await sandbox.chain.getBlockNumber()
  await mine.chain.mine({ blocks: 3 })
  expect((await sandbox.chain.getBlockNumber()) - before).toBeLessThan(3n)
  expect((await mine.audit()).ok).toBe(true)
})

test('wallets and ids are those of a sandbox started alone with its seed and fixture', async () => {
  const clock = '2030-01-01T00:00:00Z'
  await using alone = await startSandbox({ port: 0, confirmationDelay: 0, seed: 99, clock })
  await using mine = await sandbox.namespaces.create({ seed: 99, clock })
  const run = async (handle: SandboxHandle) => {
    const partner = new Partner(handle)
    const user = await partner.post('end_users', { external_id: 'wanda' })
    const portfolios = await partner.get('end_users/alice/portfolios')
    return [user.body, portfolios.body.data, portfolios.headers.get('x-service-request-id')]
  }
  expect(await run(mine)).toEqual(await run(alone))
})

describe('from another one', () => {
  test('it has the money that one has, and goes its own way', async () => {
    await using first = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z' })
    const source = new Partner(first)
    const portfolio = await source.open('zoe')
    await source.deposit('zoe', portfolio, '3000000')
    await using second = await sandbox.namespaces.create({ from: first.namespace })
    const copy = new Partner(second)
    const listed = async (partner: Partner) => (await partner.get('end_users/zoe/portfolios')).body.data
    expect(await listed(copy)).toEqual(await listed(source))
    expect((await copy.withdraw('zoe', portfolio, '1000000')).status).toBe(200)
    expect((await listed(source))[0]).toMatchObject({ total_balance: '3000000' })
    for (const one of [first, second]) expect((await one.audit()).checks.filter(({ ok }) => !ok)).toEqual([])
  })

  test('a transfer that is under way there is settled here as well, once', async () => {
    await using first = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z', confirmationDelay: '1h' })
    const source = new Partner(first)
    const portfolio = await source.open('zoe')
    const [before] = [await first.chain.getBlockNumber()]
    const held = source.deposit('zoe', portfolio, '3000000')
    await expect.poll(() => first.chain.getBlockNumber()).toBeGreaterThan(before)
    await using second = await sandbox.namespaces.create({ from: first.namespace })
    const transactions = async (partner: Partner) => (await partner.get('end_users/zoe/transactions')).body.data
    expect(await transactions(new Partner(second))).toHaveLength(1)
    expect((await second.audit()).ok).toBe(true)
    await first.clock.advance('1h')
    expect((await held).status).toBe(200)
    expect((await transactions(source))[0].tx_hash).toBe((await transactions(new Partner(second)))[0].tx_hash)
  })

  test('a pool that a fault has broken there is repaired here, and stays broken there', async () => {
    await using first = await sandbox.namespaces.create()
    const source = new Partner(first)
    const portfolio = await source.open('zoe')
    await first.faults.add({ kind: 'pool_paused', match: { operation: 'deposit' } })
    const deposit = (partner: Partner) => partner.deposit('zoe', portfolio, '1000').then(({ status }) => status)
    expect(await deposit(source)).toBe(422)
    await using second = await sandbox.namespaces.create({ from: first.namespace })
    expect(await deposit(new Partner(second))).toBe(200)
    expect(await deposit(source)).toBe(422)
  })

  test('its clock can be set on, and not back', async () => {
    await using first = await sandbox.namespaces.create({ clock: '2030-01-01T00:00:00Z' })
    await first.clock.advance('30d')
    const { namespace: from } = first
    await expect(sandbox.namespaces.create({ from, clock: '2030-01-02T00:00:00Z' })).rejects.toThrow('is past that')
    await using second = await sandbox.namespaces.create({ from, clock: '2031-01-01T00:00:00Z' })
    expect(await second.clock.iso()).toBe('2031-01-01T00:00:00.000Z')
  })
})

test('what a deleted one holds is answered 503', async () => {
  const mine = await sandbox.namespaces.create({ confirmationDelay: '1h' })
  const partner = new Partner(mine)
  const portfolio = await partner.open('zoe')
  const before = await mine.chain.getBlockNumber()
  const held = partner.deposit('zoe', portfolio, '1000000')
  await expect.poll(() => mine.chain.getBlockNumber()).toBeGreaterThan(before)
  await mine.stop()
  expect((await held).status).toBe(503)
})

describe('bad input', () => {
  test.each([
    [{ name: 'default' }, 409, 'namespace_exists', 'name'],
    [{ name: 'Not A Name' }, 400, 'validation_error', 'name'],
    [{ name: '../../etc' }, 400, 'validation_error', 'name'],
    [{ from: 'nowhere' }, 404, 'namespace_not_found', 'from'],
    [{ seed: -1 }, 400, 'validation_error', 'seed'],
    [{ clock: 'yesterday' }, 400, 'validation_error', 'clock'],
    [{ confirmation_delay: 'soon' }, 400, 'validation_error', 'confirmation_delay'],
    [{ fixtures: { tenants: [] } }, 400, 'validation_error', 'fixtures.tenants'],
    [{ fixtures: { service: { name: 'other' } } }, 400, 'validation_error', 'fixtures.service'],
    [{ surprise: 1 }, 400, 'validation_error', 'surprise'],
    [
      { fixtures: { tenants: [{ slug: 'x', key: { kid: 'k', private_key_file: '/etc/passwd' } }] } },
      400,
      'validation_error',
      'fixtures.tenants[0].key',
    ],
  ])('%j', async (wish, status, code, param) => {
    const response = await create(wish)
    const body = (await response.json()) as { code: string; errors?: { param: string }[]; param?: string }
    expect([response.status, body.code]).toEqual([status, code])
    expect(body.errors?.[0]?.param ?? body.param).toBe(param)
    expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default'])
  })

  test('a fixture whose fork cannot be made is refused with why, and nothing of its URL but the host', async () => {
    const pools = ['aave', 'morpho'].flatMap((protocol, i) =>
      ['USDC', 'WETH'].map((token_symbol, j) => ({
        id: `${protocol}-${token_symbol.toLowerCase()}`,
        protocol,
        chain_id: '1',
        token_symbol,
        token_address: `0x${`1${j}`.repeat(20)}`,
        token_decimals: 6,
        market_address: `0x${`2${i}`.repeat(20)}`,
      })),
    )
    const chains = [{ chain_id: '1', fork_url: 'http://me:a-password@127.0.0.1:9/v3/a-secret-key' }]
    const response = await create({ fixtures: { chains, pools } })
    const body = (await response.json()) as { code: string; detail: string; param: string }
    expect(body).toMatchObject({
      code: 'validation_error',
      param: 'fixtures',
      detail: expect.stringMatching(/ chains\[0\]\.fork_url: 127\.0\.0\.1:9 does not answer: .+\. Fix: /),
    })
    expect([response.status, JSON.stringify(body)]).toEqual([400, expect.not.stringMatching(/a-password|a-secret-key/)])
    expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default'])
  })

  test('two at once that would have the same name: one is made', async () => {
    const both = await Promise.all([create({ name: 'twin' }), create({ name: 'twin' })])
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409])
    await sandbox.namespaces.delete('twin')
  })

  test('one that is not there cannot be deleted, nor the default one', async () => {
    expect((await control('namespaces/nobody', { method: 'DELETE' })).status).toBe(404)
    expect((await control('namespaces/default', { method: 'DELETE' })).status).toBe(400)
  })
})

describe('where options limit them', () => {
  const lines: Record<string, unknown>[] = []
  let guarded: SandboxHandle
  beforeAll(async () => {
    const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    guarded = await startSandbox({ port: 0, seed: 7, controlToken: 'secret', logger, maxNamespaces: 1 })
  })
  afterAll(() => guarded.stop())

  test('nobody makes, lists, controls or deletes one without the control token', async () => {
    await using mine = await guarded.namespaces.create({ name: 'mine' })
    const asked: [string, string][] = [
      ['POST', 'namespaces'],
      ['GET', 'namespaces'],
      ['GET', 'namespaces/mine/credentials'],
      ['POST', 'namespaces/mine/reset'],
      ['GET', 'namespaces/nobody/clock'],
      ['DELETE', 'namespaces/mine'],
    ]
    for (const [method, path] of asked) {
      const response = await fetch(new URL(`/_sandbox/${path}`, guarded.baseUrl), { method })
      expect([path, response.status]).toEqual([path, 401])
    }
    expect((await new Partner(mine).get('end_users/alice/transactions')).status).toBe(200)
  })

  test('the log names it', async () => {
    await using mine = await guarded.namespaces.create({ name: 'mine' })
    await new Partner(mine).get('pools')
    await new Partner(guarded).get('pools')
    const listed = () => lines.filter(({ operation }) => operation === 'list_pools').map(({ namespace }) => namespace)
    await expect.poll(listed).toEqual(['mine', 'default'])
  })

  test('no more than there may be', async () => {
    await using first = await guarded.namespaces.create()
    await expect(guarded.namespaces.create()).rejects.toMatchObject({ code: 'too_many_namespaces' })
    await first.stop()
    await using _second = await guarded.namespaces.create()
  })
})
