import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { rpc } from './chain-fixture.ts'
import { forked } from './forked-fixture.ts'
import { startUpstream } from './upstream-chain.ts'

const fixtures = fileURLToPath(new URL('../../fixtures/multi-chain.yaml', import.meta.url))

describe('the shipped fixture of two chains', () => {
  let sandbox: SandboxHandle
  let acme: Partner
  beforeAll(async () => {
    sandbox = await testSandbox({ fixtures })
    acme = new Partner(sandbox)
  })
  afterAll(() => sandbox.stop())

  it('runs an Anvil for each, under its own id', async () => {
    const { rpc_urls } = await sandbox.credentials()
    expect(Object.keys(rpc_urls)).toEqual(['31337', '31338'])
    const ids = await Promise.all(Object.values(rpc_urls).map((url) => rpc<string>(url, 'eth_chainId')))
    expect(ids.map(Number)).toEqual([31337, 31338])
    expect(new Set(Object.values(rpc_urls)).size).toBe(2)
    expect(await sandbox.chains['31338']!.getChainId()).toBe(31338)
    expect(await sandbox.chain.getChainId()).toBe(31337)
  })

  it('lists the pools of both', async () => {
    const { data } = (await acme.get('pools')).body
    const where = Object.fromEntries(data.map((pool: Record<string, string>) => [pool.pool_id, pool.chain_id]))
    expect(where).toEqual({
      'north-aave-usdc': '31337',
      'north-morpho-usdc': '31337',
      'south-aave-usdc': '31338',
      'south-morpho-weth': '31338',
    })
  })

  it('carries concurrent deposits on both, each hash on its own chain alone, from one wallet address', async () => {
    const pools = ['north-aave-usdc', 'south-aave-usdc', 'north-morpho-usdc', 'south-morpho-weth']
    const users = ['ann', 'ben', 'cat', 'dan', 'eve']
    const portfolios = await Promise.all(
      users.flatMap((user) => pools.map(async (pool) => ({ user, pool, id: await acme.open(user, pool) }))),
    )
    const answers = await Promise.all(
      portfolios.map(async (jar) => ({ jar, answer: await acme.deposit(jar.user, jar.id, '3000000') })),
    )
    for (const { jar, answer } of answers) {
      expect(answer.status).toBe(200)
      const here = jar.pool.startsWith('north') ? '31337' : '31338'
      const hash = answer.body.tx_hash
      const receipt = await sandbox.chains[here]!.getTransactionReceipt({ hash })
      const { wallet_address } = (await acme.post('end_users', { external_id: jar.user })).body
      expect(receipt).toMatchObject({ status: 'success', from: wallet_address.toLowerCase() })
      const elsewhere = sandbox.chains[here === '31337' ? '31338' : '31337']!
      await expect(elsewhere.getTransactionReceipt({ hash })).rejects.toThrow(/could not be found/)
    }
    for (const user of users) {
      const { data } = (await acme.get(`end_users/${user}/portfolios`)).body
      expect(data.map(({ deposited }: { deposited: string }) => deposited)).toEqual(pools.map(() => '3000000'))
    }
  })

  it('keeps time, withdraws in full and resets on both', async () => {
    const jars = await Promise.all(['north-aave-usdc', 'south-aave-usdc'].map((pool) => acme.open('fay', pool)))
    await Promise.all(jars.map((jar) => acme.deposit('fay', jar, '1000000000')))
    await sandbox.clock.advance(30 * 86_400_000)
    const { data } = (await acme.get('end_users/fay/portfolios')).body
    for (const jar of data) {
      expect(Number(jar.total_balance)).toBeGreaterThan(1_001_000_000)
      const { body } = await acme.withdraw('fay', jar.portfolio_id, jar.total_balance)
      expect(body).toMatchObject({ deposited: '0', total_balance: '0' })
    }
    await sandbox.reset()
    const alice = (await acme.get('end_users/alice/portfolios')).body.data
    expect(alice.map((jar: Record<string, string>) => [jar.chain_id, jar.deposited])).toEqual(
      expect.arrayContaining([
        ['31337', '2500000000'],
        ['31338', '1000000000'],
      ]),
    )
  })
})

describe('a fork beside an embedded chain', () => {
  it('serves both from one protocol code', async () => {
    const upstream = await startUpstream('8453')
    try {
      await using sandbox = await sandboxWith((fixture) => {
        const embedded = fixture.pools.map((pool) => ({ ...pool, id: `embedded-${pool.id}`, chain_id: '31337' }))
        forked(upstream)(fixture)
        fixture.chains!.push({ chain_id: '31337' })
        fixture.pools.push(...embedded)
      })
      const acme = new Partner(sandbox)
      const jars = await Promise.all(['aave-usdc', 'embedded-aave-usdc'].map((pool) => acme.open('gil', pool)))
      const answers = await Promise.all(jars.map((jar) => acme.deposit('gil', jar, '5000000')))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      upstream.be('down')
      await acme.post('end_users', { external_id: 'hal' })
      expect((await acme.deposit('gil', jars[1]!, '5000000')).status).toBe(200)
    } finally {
      await upstream.stop()
    }
  })
})
