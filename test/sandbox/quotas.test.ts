import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Usage } from '../../src/control/contract.ts'
import { connectSandbox, type SandboxHandle, type SandboxOptions } from '../../src/index.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { Partner } from '../helpers/partner.ts'

let started: Sandbox
let sandbox: SandboxHandle
const begin = (options: SandboxOptions) => async () => {
  started = await Sandbox.listen({ port: 0, confirmationDelay: 0, ...options })
  await started.ready
  sandbox = await connectSandbox({ url: started.baseUrl })
}
const end = () => started.stop()

const usageOf = async (wanted: string) => {
  const answer = await fetch(`${sandbox.baseUrl}/_sandbox/usage`)
  const { namespaces } = (await answer.json()) as Usage
  return namespaces.find(({ name }) => name === wanted)!
}

describe('requests a second', () => {
  // So few that a slow machine cannot send 60 requests within what they allow.
  beforeAll(begin({ quotaRequestsPerSecond: 2 }))
  afterAll(end)

  test('requests beyond the quota are answered 429, in that namespace alone, and its report is inconclusive for it', async () => {
    await using mine = await sandbox.namespaces.create()
    const [partner, neighbour] = [new Partner(mine), new Partner(sandbox)]
    await partner.idpToken()
    await neighbour.idpToken()
    const answers = await Promise.all(Array.from({ length: 60 }, () => partner.get('pools')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1)
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
    expect(refused[0]!.body).toMatchObject({
      code: 'rate_limited',
      detail: expect.stringContaining(`The sandbox lets the namespace "${mine.namespace}" send 2 requests a second`),
    })
    expect((await neighbour.get('pools')).status).toBe(200)
    const { verdict, summary, configuration } = await mine.report()
    expect([verdict, summary]).toEqual([
      'inconclusive',
      expect.stringContaining('the quota of the namespace refused requests'),
    ])
    expect(configuration[0]).toMatchObject({ id: 'namespace-quota', blocking: true, count: refused.length })
    expect((await sandbox.report()).configuration).toEqual([])
  })

  test('requests for tokens and by JSON-RPC count as well, each with an error of its own kind', async () => {
    const { rpc_urls } = await sandbox.credentials()
    const [url = ''] = Object.values(rpc_urls)
    const call = () =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
      })
    await call()
    const calls = await Promise.all(Array.from({ length: 60 }, call))
    const refused = calls.find(({ status }) => status === 429)
    expect(await refused?.json()).toMatchObject({ code: 'rate_limited' })
    const partner = new Partner(sandbox)
    const tokens = await Promise.all(Array.from({ length: 60 }, () => partner.tokenAnswer().catch(() => ({}))))
    expect(tokens).toContainEqual(expect.objectContaining({ error: 'rate_limited' }))
  })
})

describe('ledger', () => {
  beforeAll(begin({ quotaLedgerBytes: '64KiB' }))
  afterAll(end)

  test('a full ledger takes no writes, before anything of them is done; reads, repetitions and other namespaces go on', async () => {
    await using mine = await sandbox.namespaces.create()
    const partner = new Partner(mine)
    const portfolio_id = await partner.open('alice', 'aave-usdc')
    const key = randomUUID()
    const body = { portfolio_id, amount_minor: '1000000' }
    const first = await partner.post('end_users/alice/deposit', body, { key })
    expect(first.status).toBe(200)
    let full = first
    for (let made = 0; full.status < 400 && made < 400; made++) {
      full = await partner.post('end_users', {
        external_id: `user-${made}`,
        user_jwt: await partner.userToken(`user-${made}`),
      })
    }
    expect(full).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable', detail: expect.stringContaining('--quota-ledger-bytes') },
    })
    expect(full.headers.get('retry-after')).toBe('5')
    const before = (await partner.get('end_users/alice/transactions')).body.data.length
    const own = randomUUID()
    const refused = await partner.post('end_users/alice/deposit', body, { key: own })
    expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable'])
    expect((await partner.get('end_users/alice/transactions')).body.data).toHaveLength(before)
    const again = await partner.post('end_users/alice/deposit', body, { key })
    expect([again.status, again.headers.get('idempotency-key-replay')]).toEqual([200, 'true'])
    expect((await usageOf(mine.namespace)).holdings?.ledger.bytes).toBeGreaterThanOrEqual(64 * 1024)
    expect((await mine.report()).configuration[0]).toMatchObject({ id: 'namespace-quota', blocking: true })
    expect((await mine.audit()).ok).toBe(true)
    expect((await new Partner(sandbox).open('alice', 'aave-usdc')).length).toBeGreaterThan(0)
    // After a reset there is room again, and the same key begins anew.
    await mine.reset()
    expect((await usageOf(mine.namespace)).holdings?.ledger.bytes).toBeLessThan(64 * 1024)
  })
})

describe('Anvils', () => {
  beforeAll(begin({ fixtures: 'fixtures/multi-chain.yaml', clock: '2030-01-01T00:00:00Z', quotaAnvils: 1 }))
  afterAll(end)

  test('a namespace has no more Anvils at once than its quota: one that is idle gives its place to the next', async () => {
    await using mine = await sandbox.namespaces.create()
    const { rpc_urls } = await mine.credentials()
    expect(Object.keys(rpc_urls)).toHaveLength(2)
    const heights = () => Promise.all(Object.values(mine.chains).map((chain) => chain.getBlockNumber({ cacheTime: 0 })))
    const before = await heights()
    expect(await heights()).toEqual(before)
    expect((await usageOf(mine.namespace)).anvils).toBe(1)
    expect((await usageOf('default')).anvils).toBe(2)
  })
})
