import { describe, expect, it } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, chainsForEachTest, order, rpc } from './chain-fixture.ts'
import { DAY, deposit, NEVER_BY_ITSELF, rested, START, story } from './resting.ts'

describe('a chain on demand', () => {
  const start = chainsForEachTest(() => ({ idleMs: NEVER_BY_ITSELF }))

  it('makes the same blocks whether it rests in between or not', async () => {
    const run = async (pause: (fixture: ChainFixture) => Promise<void>) => {
      const clock = new SandboxClock(START)
      // The key that governs a market stands in its blocks.
      const fixture = await start({ clock, governingKey: () => `0x${'5'.repeat(64)}` })
      const { chain, chains, pool, fund } = fixture
      const steps = [
        () => fund(alice),
        () => deposit(fixture),
        async () => clock.advance(30 * DAY),
        () => deposit(fixture, 5n),
        () => chain.setApy(pool('vault USDC'), 0.5),
        () => chain.transfer(order('deposit', pool('vault USDC'), 7_000_000n)),
        () => chain.setPoolPaused(pool('aave USDC'), true),
        () => chain.reorg(),
        () => rpc(chain, 'anvil_setBalance', `0x${'8'.repeat(40)}`, '0x1234'),
        () => deposit(fixture, 9n),
        () => chain.setPoolPaused(pool('aave USDC'), false),
        () => rpc(chain, 'evm_mine'),
        async () => clock.advance(DAY),
        async () => {
          const shares = await chain.shares(alice, pool('aave USDC'))
          await chain.transfer(order('withdrawal', pool('aave USDC'), 'all', { shares }))
        },
      ]
      for (const step of steps) {
        await step()
        await chains.follow(clock)
        await pause(fixture)
      }
      const values = await chain.values([{ pool: pool('vault USDC'), shares: 10n ** 12n }])
      return [...(await story(fixture)), values, await chain.market(pool('vault USDC'))]
    }
    const plain = await run(async () => {})
    expect(await run((fixture) => rested(fixture))).toEqual(plain)
    expect(plain.length).toBeGreaterThan(20)
  })

  it('never cuts a transfer off to rest', async () => {
    const fixture = await start({ idleMs: 1 })
    await fixture.fund(alice)
    let over = false
    let rests = 0
    const resting = (async () => {
      while (!over) {
        if (await fixture.chain.rest(true)) rests++
        await new Promise(setImmediate)
      }
    })()
    const blocks: number[] = []
    for (let round = 0; round < 8; round++) {
      const mined = await Promise.all([deposit(fixture), deposit(fixture), deposit(fixture)])
      for (const { status, block_number } of mined) {
        expect(status).toBe('success')
        blocks.push(block_number)
      }
      await eventually(() => expect(rests).toBeGreaterThan(round))
    }
    over = true
    await resting
    expect(blocks).toEqual(blocks.toSorted((a, b) => a - b))
    expect(await fixture.chain.walletBalance(alice, fixture.market.tokens.USDC!.address)).toBe(10n ** 24n - 24_000_000n)
  })
})
