import { afterAll, beforeAll, expect, it } from 'vitest'
import { ChainUnavailableError, ChainUnsoundError } from '../../src/domain/ports/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

let fixture: ChainFixture
beforeAll(async () => {
  fixture = await startChain()
  await fixture.fund(alice)
})
afterAll(() => fixture.chains.stop())

it.each([2 ** 53 - 1, 2 ** 53, 2 ** 63])(
  'a chain that is told it is %d seconds old is told otherwise',
  async (time) => {
    const { chain, chains, pool } = fixture
    const vault = pool('vault USDC')
    let over = false
    const refusals: unknown[] = []
    const reading = (async () => {
      while (!over) await chain.shares(alice, vault).catch((error: unknown) => refusals.push(error))
    })()
    await rpc(chain, 'evm_mine', { timestamp: `0x${BigInt(time).toString(16)}` }).catch((error) => refusals.push(error))
    await eventually(() => expect(chains.status()).toEqual({ ok: true }))
    over = true
    await reading
    for (const error of refusals)
      expect([ChainUnavailableError, ChainUnsoundError]).toContain((error as Error).constructor)
    const { timestamp } = await rpc<{ timestamp: string }>(chain, 'eth_getBlockByNumber', 'latest', false)
    expect(Number(timestamp)).toBeLessThan(2 ** 40)
    expect(await chain.transfer(order('deposit', vault, 5n))).toMatchObject({ status: 'success' })
  },
)
