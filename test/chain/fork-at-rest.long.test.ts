import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type AnvilChains, type ChainsOptions, openChains } from '../../src/chain/anvil-chains.ts'
import { embeddedCheckpoint } from '../../src/chain/markets/embedded-market.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Pool } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, order, rpc, silent } from './chain-fixture.ts'
import { startUpstream, type UpstreamChain } from './upstream-chain.ts'

describe('a fork', () => {
  let upstream: UpstreamChain
  const started: AnvilChains[] = []
  beforeAll(async () => {
    upstream = await startUpstream('8453')
  })
  afterEach(async () => {
    upstream.be('well')
    await Promise.all(started.splice(0).map((chains) => chains.stop()))
  })
  afterAll(() => upstream?.stop())

  const open = async (options: Partial<ChainsOptions> = {}) => {
    const { url, market } = upstream
    const chains = await openChains({
      chains: [{ chain_id: '8453', fork: { url, origin: '--fork-url' }, price_oracle: market.price_oracle }],
      embedded: await embeddedCheckpoint(),
      clock: new SandboxClock(Date.UTC(2030, 0, 1)),
      seed: 7,
      protocols: ['aave', 'morpho'],
      log: silent,
      idleMs: 1_000_000,
      ...options,
    })
    started.push(chains)
    return chains
  }
  const pool = (): Pool => ({
    tenant_id: 'acme',
    pool_id: 'aave USDC',
    protocol: 'aave',
    chain_id: '8453',
    token_symbol: 'USDC',
    token_decimals: 6,
    token_address: upstream.market.tokens.USDC!.address,
    market_address: upstream.market.aave_pool,
  })
  const fork = (chains: AnvilChains) => chains.get('8453')!
  const fund = (chains: AnvilChains) => {
    const { tokens, aave_pool } = upstream.market
    const token = { token_address: tokens.USDC!.address, amount: 10n ** 12n, spenders: [aave_pool] }
    return fork(chains).fundWallet(alice, [token])
  }
  const deposit = (chains: AnvilChains) => fork(chains).transfer(order('deposit', pool(), 1_000_000n))
  const last = (chains: AnvilChains) => rpc(fork(chains), 'eth_getBlockByNumber', 'latest', true)

  it('makes the same blocks whether it rests or not, and is woken also if its real chain cannot be reached', async () => {
    const [plain, other] = [await open(), await open()]
    for (const chains of [plain, other]) {
      await fund(chains)
      await deposit(chains)
    }
    const before = await last(other)
    expect(await fork(other).rest(false)).toBe(true)
    upstream.be('down')
    expect(await last(other)).toEqual(before)
    upstream.be('well')
    expect(before).toEqual(await last(plain))
    await eventually(() => expect(other.status()).toEqual({ ok: true }))
    expect(await deposit(other)).toMatchObject({ status: 'success' })
    await deposit(plain)
    expect(await last(other)).toEqual(await last(plain))
  })

  it('begins with a copy at the same block of its real chain', async () => {
    const first = await open()
    await fund(first)
    await deposit(first)
    const { chains: begin } = await first.copy(() => {})
    await rpc(upstream.anvilUrl, 'evm_mine')
    const second = await open({ begin })
    expect(await last(second)).toEqual(await last(first))
    for (const chains of [first, second]) {
      await deposit(chains)
      await chains.reset()
      await fund(chains)
      await deposit(chains)
    }
    expect(await last(second)).toEqual(await last(first))
  })

  it('that cannot be woken says why, and is tried again', async () => {
    const first = await open()
    await fund(first)
    const { chains: begin } = await first.copy(() => {})
    const second = await open({ begin })
    upstream.be('limited')
    await expect(deposit(second)).rejects.toThrow(/chain 8453 cannot be reached: .*limits the rate/)
    expect(second.status()).toEqual({ ok: true })
    upstream.be('well')
    expect(await deposit(second)).toMatchObject({ status: 'success' })
  })
})
