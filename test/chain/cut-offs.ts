import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MinedTransfer, WalletOwner } from '../../src/domain/ports/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { AnvilFront, type CutOff } from './anvil-front.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'
import { expectSameChain } from './expect-same-chain.ts'

const DONE: CutOff[] = ['answer lost', 'carried out later']
export const OUTLIVED: CutOff[] = ['call lost', ...DONE]
const EVERY: CutOff[] = [...OUTLIVED, 'Anvil killed']

const bob: WalletOwner = { tenant_id: 'acme', external_id: 'bob' }
let front: AnvilFront
let fixture: ChainFixture
let shares = 0n
const told = new Map<string, number>()
/** Starts the chain of a file's tests behind a front that cuts calls off, and stops it after them. */
export function openFront(): void {
  beforeAll(async () => {
    front = new AnvilFront()
    shares = 0n
    told.clear()
    fixture = await startChain()
    await fixture.fund(alice)
    await deposit()
  })
  afterAll(async () => {
    await fixture.chains.stop()
    front.close()
  })
}

/** What is done, the calls of it that may be cut off, and how. */
const DOES: [what: string, does: () => Promise<unknown>, calls: string[], how: CutOff[]][] = [
  ['a deposit', () => deposit(), ['eth_sendRawTransaction', 'evm_mine', 'eth_getLogs'], EVERY],
  ['a wallet is funded', () => fixture.fund(bob), ['anvil_dealERC20'], DONE],
  ['a pool is paused', () => pause(true), ['eth_sendRawTransaction', 'evm_mine'], DONE],
  ['somebody has a block mined', () => rpc(fixture.chain, 'evm_mine'), ['evm_mine'], DONE],
  ['somebody changes a balance', () => setBalance(), ['anvil_setBalance'], DONE],
  ['a checkpoint', () => setBalance().then(() => deposit()), ['anvil_dumpState'], DONE],
]

async function deposit(): Promise<void> {
  const { status, tx_hash, block_number, ...moved }: MinedTransfer = await fixture.chain.transfer(
    order('deposit', fixture.pool('vault USDC'), 1_000n),
  )
  expect(status).toBe('success')
  shares += moved.shares
  told.set(tx_hash, block_number)
}

function pause(paused: boolean): Promise<void> {
  return fixture.chain.setPoolPaused(fixture.pool('aave WETH'), paused)
}

function setBalance(): Promise<unknown> {
  return rpc(fixture.chain, 'anvil_setBalance', `0x${'ab'.repeat(20)}`, '0x1')
}

const ready = () => eventually(() => expect(fixture.chains.status()).toEqual({ ok: true }), 5)

async function expectKept(): Promise<void> {
  for (const [hash, number] of told) {
    const receipt = await rpc<{ status: string; blockNumber: string } | null>(
      fixture.chain,
      'eth_getTransactionReceipt',
      hash,
    )
    expect(receipt && [receipt.status, Number(receipt.blockNumber)], hash).toEqual(['0x1', number])
  }
  expect(await fixture.chain.shares(alice, fixture.pool('vault USDC'))).toBe(shares)
}

/** Whatever mines one block mines another one later. */
const waysOf = (call: string, ways: CutOff[]): CutOff[] =>
  call === 'evm_mine' ? [...ways, 'carried out behind the next'] : ways

/** All of them: what is done, how its call is cut off, which call. */
export const CASES = DOES.flatMap(([what, does, calls, ways]) =>
  calls.flatMap((call) => waysOf(call, ways).map((how) => [what, how, call, does] as const)),
)

export function leavesItsJournal(cases: typeof CASES, checkpoints: readonly CutOff[]): void {
  describe('a call that is cut off leaves a chain that is what its journal holds', () => {
    test.each(cases)('%s, %s: %s', async (_what, how, call, does) => {
      const struck = front.cutOff(call, how)
      const done = does().catch(() => {}) // it is told that the chain is not available, or it is carried through
      await struck
      await done
      await ready()
      // A call may be carried out so late that it strikes what comes next: that is refused, and asked for again.
      const { insist, chain } = fixture
      await insist(deposit)
      await insist(() => chain.reorg())
      await insist(expectKept)
      if (call === 'eth_sendRawTransaction' || call === 'evm_mine') await insist(() => pause(false))
    })

    // It is taken into the journal by a checkpoint, the second one here. What all before it have left is compared as well.
    test.each(checkpoints)('a block of somebody else as well, whose checkpoint is cut off, %s', async (how) => {
      const [from] = await rpc<string[]>(fixture.chain, 'eth_accounts')
      const struck = front.cutOff('anvil_dumpState', how, 1)
      const sent = await rpc<string>(fixture.chain, 'eth_sendTransaction', { from, to: from, gasPrice: '0x0' })
      const done = deposit()
      await struck
      await done
      await ready()
      await deposit()
      await expectSameChain(fixture.chain)
      await expectKept()
      expect(await rpc(fixture.chain, 'eth_getTransactionReceipt', sent)).toMatchObject({ status: '0x1' })
    })
  })
}
