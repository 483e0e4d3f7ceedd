import { numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, nodeUrl, order, rpc, silent, startChain } from './chain-fixture.ts'

/** Reads at once: two are enough, if they meet. */
const MANY = 16
/** Milliseconds that a busy node is busy, more than a dead-locked one is let be. */
const BUSY_MS = 4_000
/** JUMPDEST, PUSH1 0, JUMP: uses up its gas. */
const ENDLESS = '0x5b600056'

// Past the gateway, which lets neither through.
describe.runIf(process.platform === 'linux')('a node that gives no answer', () => {
  let fixture: ChainFixture
  let reasons: unknown[]
  let node: string
  beforeEach(async () => {
    reasons = []
    const error = (fields: object) => reasons.push('reason' in fields ? fields.reason : fields)
    fixture = await startChain({ log: { ...silent, error } })
    await fixture.fund(alice)
    node = await nodeUrl(fixture.chain.pid)
  })
  afterEach(() => fixture.chains.stop())

  it('since it is dead-locked, is replaced at once', async () => {
    const { chain, chains, pool } = fixture
    const { pid } = chain
    const old = await rpc<string>(node, 'eth_blockNumber')
    await rpc(chain, 'evm_mine')
    const reads = Array.from({ length: MANY }, (_, i) =>
      rpc(node, 'eth_getBalance', numberToHex(2n ** 100n + BigInt(i), { size: 20 }), old),
    )
    expect(await Promise.allSettled(reads)).toContainEqual(expect.objectContaining({ status: 'rejected' }))
    await eventually(() => expect(chain.pid).not.toBe(pid))
    await eventually(() => expect(chains.status()).toEqual({ ok: true }))
    expect(await chain.transfer(order('deposit', pool('aave USDC'), 7n))).toMatchObject({ status: 'success' })
    expect(reasons).toEqual(['it is dead-locked', 'it is dead-locked'])
  })

  it('since somebody stopped it, is waited for', async () => {
    const { chain } = fixture
    const { pid } = chain
    process.kill(pid, 'SIGSTOP')
    await eventually(() => expect(chain.pid).not.toBe(pid))
    expect(reasons).toEqual(['it gave no answer', 'it gave no answer'])
  })

  it('since it is busy, is waited for', async () => {
    const { chain, pool } = fixture
    const { pid } = chain
    const burn = async (gas: number) => {
      const begun = performance.now()
      await rpc(node, 'eth_call', { data: ENDLESS, gas: numberToHex(gas) }, 'latest').catch(() => {})
      return performance.now() - begun
    }
    const sample = 1_000_000_000
    const burning = burn(Math.round((sample * BUSY_MS) / (await burn(sample))))
    const deposit = chain.transfer(order('deposit', pool('aave USDC'), 7n))
    await burning
    expect(await deposit).toMatchObject({ status: 'success' })
    expect(chain.pid).toBe(pid)
    expect(reasons).toEqual([])
  })
})
