import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { MinedTransfer, UnfinishedTransfer, WalletOwner } from '../../src/domain/ports/chain.ts'
import type { Pool, TransferType } from '../../src/domain/records.ts'
import { type ChainFixture, order, type PoolName, rpc, startChain } from './chain-fixture.ts'

const START = Date.parse('2030-01-01T00:00:00Z')
const POOLS = ['aave USDC', 'aave WETH', 'vault USDC', 'vault WETH'] as const

// Two chains with one history: what is signed and mined on the first, the second has never heard of.
let first: ChainFixture
let second: ChainFixture
beforeAll(async () => {
  const start = () => startChain({ clock: new SandboxClock(START) })
  const chains = await Promise.all([start(), start()])
  first = chains[0]
  second = chains[1]
})
afterAll(() => Promise.all([first, second].map(({ chains }) => chains.stop())))

async function wallet(external_id: string): Promise<WalletOwner> {
  const owner = { tenant_id: 'acme', external_id }
  await Promise.all([first.fund(owner), second.fund(owner)])
  return owner
}

type Run = { mined: MinedTransfer; signed: UnfinishedTransfer }

/** Carries a transfer out on the first chain. */
async function carryOut(
  type: TransferType,
  pool: Pool,
  amount: bigint | 'all',
  rest: Parameters<typeof order>[3],
): Promise<Run> {
  const ordered = order(type, pool, amount, rest)
  const mined = await first.chain.transfer(ordered)
  return { mined, signed: { ...ordered.seen.signed[0]!, type, pool } }
}

const deposit = (owner: WalletOwner, name: PoolName, amount = 1_000_000_007n) =>
  carryOut('deposit', first.pool(name), amount, { owner })

/** Apart from how many blocks there were before. */
const effect = ({ block_number: _, ...mined }: MinedTransfer) => mined

const nonce = async ({ chain, chains }: ChainFixture, owner: WalletOwner) =>
  Number(await rpc<string>(chain, 'eth_getTransactionCount', chains.walletAddress(owner), 'latest'))

describe('a transfer signed in an earlier life', () => {
  it.each(POOLS)('is mined as it would have been, when the chain has never heard of it: %s', async (name) => {
    const owner = await wallet(`unheard ${name}`)
    const there = await deposit(owner, name)
    expect(effect(await second.chain.finish(there.signed))).toEqual(effect(there.mined))
    const { shares } = there.mined
    const back = await carryOut('withdrawal', first.pool(name), 'all', { owner, shares })
    expect(effect(await second.chain.finish(back.signed))).toEqual(effect(back.mined))
    expect(await second.chain.shares(owner, first.pool(name))).toBe(0n)
  })

  it('is mined at once when it waits in the pool', async () => {
    const owner = await wallet('pooled')
    const { mined, signed } = await deposit(owner, 'aave USDC')
    await rpc(second.chain, 'eth_sendRawTransaction', signed.raw_transaction)
    expect(effect(await second.chain.finish(signed))).toEqual(effect(mined))
  })

  it('is found where it stands, successful or reverted, however often one asks', async () => {
    const owner = await wallet('standing')
    const good = await deposit(owner, 'vault USDC')
    const bad = await carryOut('deposit', first.pool('vault USDC'), 500n, { owner, revert: true })
    expect(bad.mined.status).toBe('reverted')
    for (const { mined, signed } of [good, bad, good]) expect(await first.chain.finish(signed)).toEqual(mined)
    expect(await nonce(first, owner)).toBe(2)
    expect(Number(await rpc<string>(first.chain, 'eth_blockNumber'))).toBe(bad.mined.block_number)
  })

  it('is found in a block that the node has forgotten, too', async () => {
    const owner = await wallet('forgotten')
    const good = await deposit(owner, 'vault USDC')
    const bad = await carryOut('deposit', first.pool('vault USDC'), 500n, { owner, revert: true })
    for (let i = 0; i < 3; i++) await rpc(first.chain, 'anvil_mine', '0x28')
    for (const { mined, signed } of [good, bad]) expect(await first.chain.finish(signed)).toEqual(mined)
    expect(await nonce(first, owner)).toBe(2)
  })

  it('reverts where it would have', async () => {
    const owner = await wallet('reverting')
    const { mined, signed } = await carryOut('deposit', first.pool('aave WETH'), 500n, { owner, revert: true })
    expect(effect(await second.chain.finish(signed))).toEqual(effect(mined))
  })

  it('is mined together with others of its wallet, in whatever order they are asked for', async () => {
    const owner = await wallet('busy')
    const runs = await Promise.all(POOLS.map((name) => deposit(owner, name)))
    first.clock.advance(1000)
    second.clock.advance(1000)
    runs.push(await deposit(owner, 'aave USDC', 5_000n))
    const finished = await Promise.all(runs.toReversed().map(({ signed }) => second.chain.finish(signed)))
    expect(finished.map(({ tx_hash }) => tx_hash)).toEqual(runs.toReversed().map(({ mined }) => mined.tx_hash))
    expect(finished.every(({ status }) => status === 'success')).toBe(true)
    expect(await nonce(second, owner)).toBe(5)
  })

  it('is mined at the time it was signed for: a withdrawal of everything leaves nothing', async () => {
    const owner = await wallet('exact')
    const pool = first.pool('aave WETH')
    const unit = 10n ** 18n
    const there = await deposit(owner, 'aave WETH', 1_000n * unit)
    await second.chain.finish(there.signed)
    first.clock.advance(3_600_000) // the second chain stays behind
    const back = await carryOut('withdrawal', pool, 'all', { owner, shares: there.mined.shares })
    expect(back.mined.amount).toBeGreaterThan(1_000n * unit)
    expect(effect(await second.chain.finish(back.signed))).toEqual(effect(back.mined))
    expect(await second.chain.shares(owner, pool)).toBe(0n)
    second.clock.advance(3_600_000)
  })

  it('moves what was decided when the chain is past its time', async () => {
    const owner = await wallet('late')
    const pool = first.pool('aave USDC')
    const there = await deposit(owner, 'aave USDC')
    await second.chain.finish(there.signed)
    const back = await carryOut('withdrawal', pool, 'all', { owner, shares: there.mined.shares })
    second.clock.advance(86_400_000)
    const late = await second.chain.finish(back.signed)
    expect(late).toMatchObject({ status: 'success', amount: back.mined.amount, tx_hash: back.mined.tx_hash })
    expect(late.block_timestamp).toBeGreaterThanOrEqual(back.mined.block_timestamp + 86_400)
    expect(await second.chain.shares(owner, pool)).toBe(there.mined.shares - late.shares)
    first.clock.advance(86_400_000)
  })

  it('is given up when another one stands in its place, and keeps nobody waiting', async () => {
    const owner = await wallet('replaced')
    const pool = first.pool('vault WETH')
    const { signed } = await deposit(owner, 'vault WETH')
    await second.chain.transfer(order('deposit', pool, 77_777_777n, { owner }))
    const other = await deposit(await wallet('bystander'), 'vault WETH')
    const results = await Promise.allSettled([signed, other.signed].map((each) => second.chain.finish(each)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await nonce(second, owner)).toBe(1)
  })
})
