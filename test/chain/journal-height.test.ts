import { expect, test } from 'vitest'
import type { BlockArchive } from '../../src/chain/archive/block-archive.ts'
import { ChainJournal, MemoryJournal } from '../../src/chain/history/chain-journal.ts'
import type { Checkpoint } from '../../src/chain/history/checkpoint.ts'
import type { Block } from '../../src/chain/json-rpc/block.ts'
import { NodeEvents } from '../../src/chain/json-rpc/node-events.ts'
import type { RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import type { ChainReader } from '../../src/chain/reading/chain-reader.ts'
import { JournalSync } from '../../src/chain/writing/journal-sync.ts'

/** A block as a node names it. */
const block = (number: number, parentHash: string) =>
  ({ number: `0x${number}`, hash: `0x0${number}`, parentHash, timestamp: '0x10', transactions: [] }) as unknown as Block

/** A journal that ends with block 1, and a node that is told of by hand: no Anvil leaves a block out. */
async function workbench() {
  const journal = new ChainJournal(new MemoryJournal())
  const checkpoint = { block: block(1, '0x00'), accounts: '' } as unknown as Checkpoint
  await journal.replace({ checkpoint, operations: [] })
  const discarded: string[] = []
  const sync = new JournalSync({
    chainId: '31337',
    rpc: {} as RpcClient,
    reader: { changed() {} } as Partial<ChainReader> as ChainReader,
    journal,
    archive: { append: async () => {}, watchers: new Set() } as Partial<BlockArchive> as BlockArchive,
    events: new NodeEvents().on('distrusted', (reason) => discarded.push(reason)),
  })
  return { journal, discarded, adopt: (found: Block) => sync.block(async () => ({ block: found })) }
}

test('the block after the one where the journal ends is written down', async () => {
  const { journal, discarded, adopt } = await workbench()
  await adopt(block(2, '0x01'))
  expect([journal.tip.number, discarded]).toEqual([2, []])
})

test.each<[string, Block, string]>([
  ['a block too far', block(3, '0x02'), 'its block 3 does not follow block 1, where its journal ends'],
  ['the same block again', block(1, '0x00'), 'its block 1 does not follow block 1, where its journal ends'],
  ['a block of another history', block(2, '0x09'), 'its block 2 does not follow block 1, where its journal ends'],
])('a node that mined %s is discarded, and the journal stays as it was', async (_what, found, reason) => {
  const { journal, discarded, adopt } = await workbench()
  await expect(adopt(found)).rejects.toThrow(reason)
  expect([journal.tip.number, discarded]).toEqual([1, [reason]])
})
