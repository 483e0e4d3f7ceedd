import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { WalletOwner } from '../../src/domain/ports/chain.ts'
import { alice, type ChainFixture, order, type PoolName, rpc, startChain } from './chain-fixture.ts'

const POOLS: PoolName[] = ['aave USDC', 'aave WETH', 'vault USDC', 'vault WETH']
const YEAR = 365 * 86_400_000

let fixture: ChainFixture
const bob: WalletOwner = { tenant_id: 'acme', external_id: 'bob' }

interface Block {
  hash: string
  parentHash: string
  number: string
  timestamp: string
  transactions: string[]
}
const latestBlock = () => rpc<Block>(fixture.chain, 'eth_getBlockByNumber', 'latest', false)

/** A block's receipts without its hash: what must be the same in another block of the same effect. */
async function effects(): Promise<unknown> {
  const receipts = await rpc<unknown>(fixture.chain, 'eth_getBlockReceipts', 'latest')
  return JSON.parse(JSON.stringify(receipts, (key, value) => (key === 'blockHash' ? undefined : value)))
}

describe('controls of a chain', () => {
  beforeAll(async () => {
    fixture = await startChain()
  })
  beforeEach(async () => {
    fixture.clock.reset()
    await fixture.chains.reset()
    await fixture.fund(alice)
  })
  afterAll(() => fixture.chains.stop())

  describe('a transfer that is to revert', () => {
    for (const name of POOLS) {
      it(`is mined, fails and moves nothing, deposit or withdrawal, of part or all: ${name}`, async () => {
        const { chain } = fixture
        const pool = fixture.pool(name)
        const { shares } = await chain.transfer(order('deposit', pool, 1_000_000n))
        const balance = await chain.walletBalance(alice, pool.token_address)
        const orders = [
          order('deposit', pool, 1n, { revert: true }),
          order('deposit', pool, balance, { revert: true }),
          order('withdrawal', pool, 500_000n, { revert: true, shares }),
          order('withdrawal', pool, 'all', { revert: true, shares }),
        ]
        for (const each of orders) {
          const mined = await chain.transfer(each)
          expect(mined).toMatchObject({ status: 'reverted', shares: 0n, tx_hash: each.seen.signed[0]?.tx_hash })
          const receipt = await rpc(chain, 'eth_getTransactionReceipt', mined.tx_hash)
          expect(receipt).toMatchObject({ status: '0x0', logs: [] })
        }
        expect(await chain.shares(alice, pool)).toBe(shares)
        expect(await chain.walletBalance(alice, pool.token_address)).toBe(balance)
        expect(await chain.transfer(order('withdrawal', pool, 'all', { shares }))).toMatchObject({ status: 'success' })
      })
    }

    it('leaves its amount to the next transfer of the same block', async () => {
      const { chain } = fixture
      const pool = fixture.pool('vault USDC')
      await fixture.fund(bob, 100n)
      const mined = await Promise.all([
        chain.transfer(order('deposit', pool, 100n, { owner: bob, revert: true })),
        chain.transfer(order('deposit', pool, 100n, { owner: bob })),
      ])
      expect(mined.map(({ status }) => status)).toEqual(['reverted', 'success'])
      expect(mined[0].block_number).toBe(mined[1].block_number)
    })
  })

  describe('reorg', () => {
    it('puts another block with the same transactions, time and effects in the place of the last', async () => {
      const { chain, chains, clock } = fixture
      const pools = POOLS.map(fixture.pool)
      await Promise.all(pools.map((pool) => chain.transfer(order('deposit', pool, 10n ** 9n))))
      clock.advance(86_400_000)
      clock.freeze() // the markets' figures move with it
      await fixture.fund(bob)
      const mined = await Promise.all(
        pools.flatMap((pool) =>
          [alice, bob].map((owner) => chain.transfer(order('deposit', pool, 5n * 10n ** 8n, { owner }))),
        ),
      )
      const look = async () => ({
        shares: await Promise.all(pools.map((pool) => chain.shares(alice, pool))),
        balances: await Promise.all(pools.map((pool) => chain.walletBalance(bob, pool.token_address))),
        markets: await Promise.all(pools.map((pool) => chain.market(pool))),
        nonce: await rpc(chain, 'eth_getTransactionCount', chains.walletAddress(alice), 'pending'),
        effects: await effects(),
      })
      const [block, before] = [await latestBlock(), await look()]
      expect(block.transactions).toHaveLength(mined.length)

      const hashes = new Set([block.hash])
      for (let time = 0; time < 3; time++) {
        await chain.reorg()
        const { hash, number, timestamp, transactions, parentHash } = await latestBlock()
        hashes.add(hash)
        expect({ number, timestamp, transactions, parentHash }).toEqual({
          number: block.number,
          timestamp: block.timestamp,
          transactions: block.transactions,
          parentHash: block.parentHash,
        })
        expect(await look()).toEqual(before)
      }
      expect(hashes.size).toBe(4)
      const all = await chain.transfer(order('withdrawal', pools[0]!, 'all', { shares: mined[0]!.shares }))
      expect(all).toMatchObject({ status: 'success', shares: mined[0]!.shares })
    })

    it('replaces an empty block, keeping what wallets were given after it, and can still be reset', async () => {
      const { chain, chains, clock } = fixture
      clock.freeze() // or whoever reads the latest block later has another one mined
      const pool = fixture.pool('aave USDC')
      await fixture.fund(bob, 7n)
      await fixture.fund(bob, 500n)
      const before = await latestBlock()
      expect(before.transactions).toEqual([])
      await chain.reorg()
      const after = await latestBlock()
      expect(after).toMatchObject({ number: before.number, timestamp: before.timestamp, transactions: [] })
      expect(after.hash).not.toBe(before.hash)
      expect(await chain.walletBalance(bob, pool.token_address)).toBe(500n)
      expect(await chain.transfer(order('deposit', pool, 500n, { owner: bob }))).toMatchObject({ status: 'success' })

      await chains.reset()
      expect(await chain.walletBalance(bob, pool.token_address)).toBe(0n)
      expect(await chain.shares(bob, pool)).toBe(0n)
    })

    it('waits for the round under way, with transfers before and after it settled once', async () => {
      const { chain, chains } = fixture
      const pool = fixture.pool('vault WETH')
      let reorganised: Promise<void> | undefined
      const first = chain.transfer(
        order('deposit', pool, 1_000n, {
          async storeSigned() {
            reorganised = chain.reorg()
          },
        }),
      )
      const mined = await first
      const second = chain.transfer(order('deposit', pool, 2_000n))
      await reorganised
      expect(await second).toMatchObject({ status: 'success', amount: 2_000n })
      expect(await rpc(chain, 'eth_getTransactionReceipt', mined.tx_hash)).toMatchObject({ status: '0x1' })
      expect(await chain.shares(alice, pool)).toBe(mined.shares + (await second).shares)
      const nonce = await rpc(chain, 'eth_getTransactionCount', chains.walletAddress(alice), 'pending')
      expect(nonce).toBe('0x2')
    })
  })

  for (const name of POOLS) {
    const [protocol, symbol] = name.split(' ') as [string, string]
    const other = POOLS.find((pool) => pool.startsWith(protocol) && !pool.endsWith(symbol))!

    it(`a paused pool lets nothing in or out, still tells what it is worth, and spares others: ${name}`, async () => {
      const { chain, clock } = fixture
      const pool = fixture.pool(name)
      const { shares } = await chain.transfer(order('deposit', pool, 10n ** 9n))
      await chain.setPoolPaused(pool, true)
      await chain.setPoolPaused(pool, true)
      const orders = [
        order('deposit', pool, 1_000n),
        order('withdrawal', pool, 1_000n, { shares }),
        order('withdrawal', pool, 'all', { shares }),
      ]
      for (const each of orders) expect(await chain.transfer(each)).toMatchObject({ status: 'reverted', shares: 0n })
      expect(await chain.transfer(order('deposit', fixture.pool(other), 10n ** 9n))).toMatchObject({
        status: 'success',
      })
      clock.advance(YEAR / 12)
      const [worth] = await chain.values([{ pool, shares }])
      expect(worth).toBeGreaterThan(10n ** 9n)

      await chain.setPoolPaused(pool, false)
      const all = await chain.transfer(order('withdrawal', pool, 'all', { shares }))
      expect(all).toMatchObject({ status: 'success', shares })
      expect(all.amount).toBeGreaterThanOrEqual(worth!)
    })

    it(`earns the yield it is told to, until it is given back its own: ${name}`, async () => {
      const { chain, clock } = fixture
      const pool = fixture.pool(name)
      const { shares } = await chain.transfer(order('deposit', pool, 10n ** 9n))
      const { apy: usual } = await chain.market(pool)
      for (const apy of [0.1234, 100, undefined, 0, 0.000001, 0.25]) {
        await chain.setApy(pool, apy)
        expect((await chain.market(pool)).apy).toBe(apy?.toFixed(6) ?? usual)
      }
      // Aave counts by the second what compounds, and linearly between two interactions.
      const yearly = protocol === 'aave' ? Math.log(1.25) : 0.25
      clock.advance(YEAR)
      const [worth] = await chain.values([{ pool, shares }])
      expect(Number(worth) / 1e9).toBeCloseTo(1 + yearly, 5)
      const deposit = await chain.transfer(order('deposit', pool, 10n ** 9n))
      expect(await chain.market(pool)).toMatchObject({ apy: '0.250000' })

      await chain.setApy(pool, undefined)
      if (protocol === 'vault') expect((await chain.market(pool)).apy).toBe(usual)
      else expect((await chain.market(pool)).apy).not.toBe('0.250000') // the market has grown, and so it pays otherwise
      for (const each of [shares, deposit.shares]) {
        const all = await chain.transfer(order('withdrawal', pool, 'all', { shares: each }))
        expect(all).toMatchObject({ status: 'success', shares: each })
      }
      expect(await chain.shares(alice, pool)).toBe(0n)
    })

    it(`changes the yield of a paused pool, which stays paused: ${name}`, async () => {
      const { chain } = fixture
      const pool = fixture.pool(name)
      const { apy: usual } = await chain.market(pool)
      await chain.setPoolPaused(pool, true)
      await chain.setApy(pool, 0.5)
      expect(await chain.market(pool)).toMatchObject({ apy: '0.500000' })
      expect(await chain.transfer(order('deposit', pool, 1_000n))).toMatchObject({ status: 'reverted' })

      await fixture.chains.reset()
      await fixture.fund(alice)
      expect((await chain.market(pool)).apy).toBe(usual)
      expect(await chain.transfer(order('deposit', pool, 1_000n))).toMatchObject({ status: 'success' })
    })
  }

  it('refuses a yield no market can pay, and to govern a market that is none of ours', async () => {
    const { chain } = fixture
    const pool = fixture.pool('aave USDC')
    for (const apy of [-0.01, 100.1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(chain.setApy(pool, apy)).rejects.toThrow(RangeError)
    }
    const foreign = { ...fixture.pool('vault USDC'), market_address: pool.token_address }
    await expect(chain.setPoolPaused(foreign, true)).rejects.toThrow('do not let themselves be changed')
    await expect(chain.setApy({ ...pool, market_address: pool.token_address }, 0.1)).rejects.toThrow()
    expect(await chain.transfer(order('deposit', pool, 1_000n))).toMatchObject({ status: 'success' })
  })
})
