import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { connectSandbox, type NamespaceOptions, type NamespaceSummary, type SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle

beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())
afterEach(async () => {
  const [, ...others] = await sandbox.namespaces.list()
  for (const { name } of others) await sandbox.namespaces.delete(name)
})

const names = async () => (await sandbox.namespaces.list()).map(({ name }) => name)

type Making = (name: string) => Promise<SandboxHandle>
const HANDLES: [string, Making][] = [
  ['that was created', (name) => sandbox.namespaces.create({ name })],
  [
    'that was connected to',
    async (name) => {
      await sandbox.namespaces.create({ name })
      return connectSandbox({ url: sandbox.baseUrl, namespace: name })
    },
  ],
]

describe.each(HANDLES)('the handle of a namespace %s', (_name, make) => {
  test('says where everything is, with clients of its own', async () => {
    const mine = await make('mine')
    const { base_url, auth_url, control_url, rpc_urls, seed, tenants } = await mine.credentials()
    expect(mine).toMatchObject({ namespace: 'mine', baseUrl: base_url, authUrl: auth_url, seed, tenants })
    expect([mine.baseUrl, mine.authUrl, mine.seed]).toEqual([sandbox.baseUrl, sandbox.authUrl, sandbox.seed])
    expect([mine.controlUrl, control_url]).toEqual(Array(2).fill(`${sandbox.controlUrl}/namespaces/mine`))
    expect(rpc_urls).toEqual({ 31337: `${sandbox.baseUrl}/rpc/mine/31337` })
    expect(tenants.map(({ client_id }) => client_id)).not.toContain(sandbox.tenants[0]!.client_id)
  })

  test('moves its clock, money and chain, and resets them, without the others', async () => {
    const mine = await make('mine')
    const partner = new Partner(mine)
    const { body } = await partner.deposit('carol', await partner.open('carol'), '1000000')
    expect(await mine.chain.getTransactionReceipt({ hash: body.tx_hash })).toMatchObject({ status: 'success' })
    await expect(sandbox.chain.getTransactionReceipt({ hash: body.tx_hash })).rejects.toThrow()
    await mine.clock.advance('30d')
    await mine.faults.add({ kind: 'stuck' })
    expect(await mine.audit()).toMatchObject({ ok: true })
    expect((await sandbox.clock.state()).offset_seconds).toBe(0)
    expect(await sandbox.faults.list()).toEqual([])
    await mine.reset()
    expect((await mine.clock.state()).offset_seconds).toBe(0)
    expect(await mine.faults.list()).toEqual([])
    expect((await partner.get('end_users/carol/portfolios')).status).toBe(404)
  })

  test('mints tokens that are good in it', async () => {
    const mine = await make('mine')
    const headers = {
      authorization: `Bearer ${await mine.idpToken()}`,
      'x-user-token': await mine.userToken('alice'),
    }
    expect((await new Partner(mine).get('end_users/alice/portfolios', { headers })).status).toBe(200)
  })

  test('stop deletes it, and nothing else', async () => {
    const mine = await make('mine')
    await sandbox.namespaces.create({ name: 'other' })
    await mine.stop()
    expect(await names()).toEqual(['default', 'other'])
    await expect(mine.clock.now()).rejects.toMatchObject({ code: 'namespace_not_found' })
    expect((await new Partner(sandbox).get('pools')).status).toBe(200)
  })
})

describe('the end of a block', () => {
  test('deletes one that was created there, however it ends', async () => {
    const failing = async () => {
      await using _mine = await sandbox.namespaces.create({ name: 'mine' })
      throw new Error('a test that fails')
    }
    await expect(failing()).rejects.toThrow('a test that fails')
    expect(await names()).toEqual(['default'])
    {
      await using mine = await sandbox.namespaces.create()
      await mine.stop() // by hand, too
    }
    expect(await names()).toEqual(['default'])
  })

  test('leaves one that was connected to', async () => {
    await sandbox.namespaces.create({ name: 'mine' })
    {
      await using _mine = await connectSandbox({ url: sandbox.baseUrl, namespace: 'mine' })
    }
    expect(await names()).toEqual(['default', 'mine'])
  })
})

describe('namespaces', () => {
  test('are those of the whole sandbox, whatever handle is asked', async () => {
    const mine = await sandbox.namespaces.create({ name: 'mine' })
    const sibling = await mine.namespaces.create({ name: 'sibling' })
    expect(await mine.namespaces.list()).toEqual(await sandbox.namespaces.list())
    expect(await names()).toEqual(['default', 'mine', 'sibling'])
    await mine.stop()
    expect(await sibling.clock.iso()).toMatch(/Z$/)
  })

  test('take seed, clock, delay, fixture and what to copy', async () => {
    const clock = '2030-01-01T00:00:00.000Z'
    const pools = [{ id: 'aave-usdc', protocol: 'aave', token: 'USDC' }]
    const first = await sandbox.namespaces.create({ seed: 9, clock, confirmationDelay: '1h', fixtures: { pools } })
    const partner = new Partner(first)
    const portfolio = await partner.open('carol')
    const before = await first.chain.getBlockNumber()
    const held = partner.deposit('carol', portfolio, '5000000')
    await expect.poll(() => first.chain.getBlockNumber()).toBeGreaterThan(before)
    const copy = await sandbox.namespaces.create({ from: first.namespace, confirmationDelay: 0 })
    expect([first.seed, copy.seed, await copy.clock.iso()]).toEqual([9, 9, clock])
    await first.clock.advance('1h')
    expect((await held).status).toBe(200)
    const pages = await Promise.all([first, copy].map((one) => new Partner(one).get('pools')))
    expect(pages.map(({ body }) => body.data.length)).toEqual([1, 1])
  })

  test('refuse what cannot be, with a code, and leave nothing', async () => {
    const { namespaces } = sandbox
    await namespaces.create({ name: 'winter' })
    await expect(namespaces.create({ name: 'winter' })).rejects.toMatchObject({ code: 'namespace_exists', status: 409 })
    await expect(namespaces.create({ from: 'wintr' })).rejects.toMatchObject({
      name: 'RefusedError',
      code: 'namespace_not_found',
      message: expect.stringContaining('did you mean "winter"?'),
    })
    await expect(namespaces.create({ fixtures: { tenants: [] } })).rejects.toMatchObject({
      code: 'validation_error',
      errors: [{ param: 'fixtures.tenants' }],
    })
    const misspelt = { confirmation_delay: 0 } as NamespaceOptions
    await expect(namespaces.create(misspelt)).rejects.toMatchObject({
      code: 'invalid_option',
      message: '"confirmation_delay" is not an option of a namespace; did you mean "confirmationDelay"?',
    })
    for (const name of ['wintr', '..', '', 'a/b']) {
      await expect(namespaces.delete(name)).rejects.toMatchObject({ code: 'namespace_not_found' })
      const connected = connectSandbox({ url: sandbox.baseUrl, namespace: name })
      await expect(connected).rejects.toMatchObject({ code: 'namespace_not_found' })
    }
    expect(await names()).toEqual(['default', 'winter'])
  })
})

// `npm run check:types` is what holds these.
test('a namespace has a handle like any other', () => {
  expectTypeOf<Awaited<ReturnType<SandboxHandle['namespaces']['create']>>>().toEqualTypeOf<SandboxHandle>()
  expectTypeOf<Awaited<ReturnType<SandboxHandle['namespaces']['list']>>>().toEqualTypeOf<NamespaceSummary[]>()
  const sound: NamespaceOptions[] = [{}, { name: 'a', seed: 1, clock: '2030-01-01', confirmationDelay: 0, from: 'b' }]
  const wrong: NamespaceOptions[] = [
    // @ts-expect-error named as in the library, not as in the body
    { confirmation_delay: 0 },
    // @ts-expect-error a file is read by whoever gives it
    { fixtures: './fixtures.yaml' },
    // @ts-expect-error a seed is a number
    { seed: '7' },
  ]
  expectTypeOf([...sound, ...wrong]).toEqualTypeOf<NamespaceOptions[]>()
})
