import { keccak256, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BlockToArchive, packSegment, segmentOf, unpackSegment } from '../../src/chain/archive/archived-block.ts'
import { RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import { readBlocks } from '../../src/chain/writing/block-archiver.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Hex } from '../../src/domain/records.ts'
import { LOGGERS, prepare, word } from './archive-fixture.ts'
import { silent } from './chain-fixture.ts'

const alice = privateKeyToAccount(keccak256('0xa11ce0'))
const to = LOGGERS[0] as Hex
const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, gas: 200_000n }
const signed = [
  { type: 'eip1559', to, data: word(7), value: 0n, ...fees },
  { type: 'eip1559', to: alice.address, value: 10n ** 17n, ...fees, maxFeePerGas: 10n ** 9n },
  { type: 'eip1559', data: '0x6000600055', ...fees },
  { type: 'eip1559', to, accessList: [{ address: to, storageKeys: [word(1), word(2)] }], ...fees },
  { type: 'eip2930', to, accessList: [], gasPrice: 0n, gas: 200_000n },
] as const

let anvil: AnvilProcess
let rpc: RpcClient
beforeAll(async () => {
  anvil = await AnvilProcess.start({ chainId: '31337', clock: new SandboxClock(), log: silent })
  rpc = new RpcClient({ chainId: '31337', url: anvil.url })
  await prepare(rpc)
  await rpc.call('anvil_setBalance', alice.address, numberToHex(10n ** 18n))
})
afterAll(async () => {
  rpc.close()
  await anvil.stop()
})

it('tells a transaction from its signed bytes as Anvil does', async () => {
  const mined = new Map<number, Hex[]>()
  for (const [nonce, transaction] of signed.entries()) {
    const raw = await alice.signTransaction({ chainId: 31337, nonce, ...transaction } as never)
    await rpc.call('eth_sendRawTransaction', raw)
    await rpc.call('evm_mine')
    mined.set(Number(await rpc.call('eth_blockNumber')), [raw])
  }
  const numbers = [...mined.keys()]
  const asked = await readBlocks(rpc, numbers, new Map())
  expect(asked.map(({ block }) => block.transactions.length)).toEqual(signed.map(() => 1))
  expect(await unpacked(asked)).toEqual(asked)
  expect(await unpacked(await readBlocks(rpc, numbers, mined))).toEqual(asked)
})

/** Blocks as they come out of the archive. */
async function unpacked(blocks: readonly BlockToArchive[]) {
  const json = blocks.map((block) => JSON.stringify(block))
  return unpackSegment(segmentOf(await packSegment(blocks, json)))
}
