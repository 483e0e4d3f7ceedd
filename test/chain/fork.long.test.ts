import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { receiptOf, tokenBalance } from '../helpers/on-chain.ts'
import { Partner } from '../helpers/partner.ts'
import { rpc } from './chain-fixture.ts'
import { forked } from './forked-fixture.ts'
import { startUpstream, type UpstreamChain } from './upstream-chain.ts'

const DAY = 86_400_000

// 8453: also whatever Anvil does for that very chain is in play.
describe('a fork of a chain with the genuine market, known by addresses alone', () => {
  let upstream: UpstreamChain
  let sandbox: SandboxHandle
  let acme: Partner
  beforeAll(async () => {
    upstream = await startUpstream('8453')
    sandbox = await sandboxWith(forked(upstream))
    acme = new Partner(sandbox)
  })
  afterAll(async () => {
    await sandbox?.stop()
    await upstream?.stop()
  })

  it('lists the pools with what they earn and hold', async () => {
    const { data } = (await acme.get('pools')).body
    expect(data).toHaveLength(4)
    for (const { chain_id, apy, tvl_usd } of data) {
      expect(chain_id).toBe('8453')
      expect(Number(apy)).toBeGreaterThan(0.001)
      expect(Number(apy)).toBeLessThan(0.2)
      expect(Number(tvl_usd)).toBeGreaterThan(0)
    }
  })

  it.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
    'pays into %s, lets it earn what was promised, and pays everything out',
    async (pool) => {
      const user = `dave-${pool}`
      const portfolio = await acme.open(user, pool)
      const amount = pool.endsWith('usdc') ? 1_000_000_000n : 10n ** 21n
      const deposited = await acme.deposit(user, portfolio, String(amount))
      expect(deposited).toMatchObject({ status: 200, body: { deposited: String(amount) } })
      expect(await receiptOf(sandbox, deposited.body.tx_hash)).toMatchObject({ status: '0x1' })

      // Read after the deposit: what the vault had not booked before it did not earn anything itself.
      const promised = Number((await acme.pool(pool)).apy)
      await sandbox.clock.advance(30 * DAY)
      const [listed] = (await acme.get(`end_users/${user}/portfolios`)).body.data
      const yearly = ((Number(listed.total_balance) / Number(amount) - 1) * 365) / 30
      expect(yearly / promised).toBeCloseTo(1, 1)

      const withdrawn = await acme.withdraw(user, portfolio, listed.total_balance)
      expect(withdrawn).toMatchObject({ status: 200, body: { deposited: '0', total_balance: '0' } })
      const { wallet_address } = (await acme.post('end_users', { external_id: user })).body
      const { token_address, market_address } = await acme.pool(pool)
      const before = 1_000_000n * 10n ** (pool.endsWith('usdc') ? 6n : 18n)
      const after = await tokenBalance(sandbox, token_address!, wallet_address)
      expect(after - before).toBeGreaterThan(0n)
      if (pool.startsWith('morpho')) expect(await tokenBalance(sandbox, market_address!, wallet_address)).toBe(0n)
    },
  )

  it.each(['pool_paused', 'illiquid_pool', 'apy_change'])(
    'refuses %s: nobody can change the market of a real chain',
    async (kind) => {
      const add = (parameters: object) =>
        sandbox.faults.add({
          kind,
          phase: 'before_broadcast',
          with: { ...parameters, ...(kind === 'apy_change' && { apy: 0.1 }) },
        } as never)
      await expect(add({ pool: 'aave-usdc' })).rejects.toThrow('"aave-usdc" is on a fork of a real chain')
      await expect(add({})).rejects.toThrow('every pool is on a fork of a real chain')
      expect(await sandbox.faults.list()).toEqual([])
      const portfolio = await acme.open(`heidi-${kind}`)
      expect((await acme.deposit(`heidi-${kind}`, portfolio, '5000000')).status).toBe(200)
    },
  )

  it('ends a call that reads from a slow upstream for too long, so that blocks do not wait for it', async () => {
    const portfolio = await acme.open('grace')
    expect((await acme.deposit('grace', portfolio, '5000000')).status).toBe(200)
    const url = (await sandbox.credentials()).rpc_urls['8453']!
    const coded = '0x00000000000000000000000000000000000000aa'
    // The balances of 6,000 accounts nobody asked for: five minutes at that pace.
    const code = '0x621000005b60010180315080621017701160045700'
    upstream.be('slow')
    const begun = performance.now()
    const reading = rpc(url, 'eth_call', { to: coded }, 'latest', { [coded]: { code } })
    await expect(reading).rejects.toThrow('no answer within 4 s, the limit of a call')
    expect((await acme.deposit('grace', portfolio, '5000000')).status).toBe(200)
    expect(performance.now() - begun).toBeLessThan(60_000)
    upstream.be('well')
  })

  it('needs no ether although the upstream charges fees', async () => {
    const { wallet_address } = (await acme.post('end_users', { external_id: 'erin' })).body
    const portfolio = await acme.open('erin')
    expect((await acme.deposit('erin', portfolio, '5000000')).status).toBe(200)
    expect(await sandbox.chain.getBalance({ address: wallet_address })).toBe(0n)
    const block = await sandbox.chain.getBlock()
    expect(block.baseFeePerGas).toBe(0n)
  })

  it('follows the clock from the start, not the block it forked', async () => {
    const { timestamp } = await sandbox.chain.getBlock()
    expect(Number(timestamp)).toBeGreaterThanOrEqual(Math.floor((await sandbox.clock.now()) / 1000) - 2)
  })

  it('carries many deposits at once, and leaves the upstream untouched', async () => {
    const before = await rpc(upstream.anvilUrl, 'eth_blockNumber')
    const users = Array.from({ length: 20 }, (_, i) => `crowd-${i}`)
    const portfolios = await Promise.all(users.map((user, i) => acme.open(user, i % 2 ? 'aave-usdc' : 'morpho-usdc')))
    const answers = await Promise.all(users.map((user, i) => acme.deposit(user, portfolios[i]!, '7000000')))
    expect(answers.map(({ status }) => status)).toEqual(users.map(() => 200))
    expect(await rpc(upstream.anvilUrl, 'eth_blockNumber')).toBe(before)
  })

  it('is the fixture again after a reset', async () => {
    await sandbox.reset()
    const [alice] = (await acme.get('end_users/alice/portfolios')).body.data
    expect(alice).toMatchObject({ deposited: '2500000000', chain_id: '8453' })
    const again = await acme.open('frank')
    expect((await acme.deposit('frank', again, '1000000')).status).toBe(200)
  })

  it('serves its RPC under the chain id of the upstream', async () => {
    const { rpc_urls } = await sandbox.credentials()
    expect(Object.keys(rpc_urls)).toEqual(['8453'])
    expect(await rpc(rpc_urls['8453']!, 'eth_chainId')).toBe('0x2105')
    expect(Object.keys(sandbox.chains)).toEqual(['8453'])
  })

  it('asks the price oracle of the Aave pool, unless it is given another', async () => {
    const given = (fixture: FixtureFile) => {
      forked(upstream)(fixture)
      fixture.chains![0]!.price_oracle = upstream.market.tokens.USDC!.address // no oracle at all
    }
    await expect(sandboxWith(given)).rejects.toThrow(/pools\[0\]\S*: the price oracle 0x\w+ has no price of/)
  })
})

describe('the block and the URL of a fork', () => {
  let upstream: UpstreamChain
  beforeAll(async () => {
    upstream = await startUpstream('8453')
  })
  afterAll(() => upstream.stop())

  it('can be chosen by option, which wins over the fixture', async () => {
    const block = Number(await rpc<string>(upstream.anvilUrl, 'eth_blockNumber'))
    await rpc(upstream.anvilUrl, 'evm_mine')
    const elsewhere = (fixture: FixtureFile) => {
      forked(upstream)(fixture)
      Object.assign(fixture.chains![0]!, { fork_url: 'http://127.0.0.1:9/', fork_block_number: block + 1 })
    }
    await using sandbox = await sandboxWith(elsewhere, { forkUrl: upstream.url, forkBlockNumber: block })
    const logs = await sandbox.chain.request({ method: 'anvil_nodeInfo' } as never)
    expect(logs).toMatchObject({ forkConfig: { forkBlockNumber: block } })
    expect(JSON.stringify(logs)).not.toContain(upstream.key)
  })

  it('make a fork of the only chain a fixture names', async () => {
    const unforked = (fixture: FixtureFile) => {
      forked(upstream)(fixture)
      fixture.chains = [{ chain_id: '8453' }]
    }
    await using sandbox = await sandboxWith(unforked, { forkUrl: upstream.url })
    expect((await new Partner(sandbox).get('pools')).body.data).toHaveLength(4)
  })
})
