import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArchivedBlock } from '../../src/chain/archive/archived-block.ts'
import { type ArchiveEntry, BlockArchive } from '../../src/chain/archive/block-archive.ts'
import { RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { SeededRandom } from '../../src/support/random.ts'
import {
  archived,
  hex,
  LOGGERS,
  MemoryJournal,
  mineRandom,
  oneOf,
  openArchive,
  prepare,
  questions,
  word,
} from './archive-fixture.ts'
import { silent } from './chain-fixture.ts'

const BLOCKS = 250
const UNKNOWN = `0x${'ab'.repeat(32)}`

describe('the archive of blocks', () => {
  let anvil: AnvilProcess
  let rpc: RpcClient
  const blocks: ArchivedBlock[] = []
  beforeAll(async () => {
    anvil = await AnvilProcess.start({ chainId: '31337', clock: new SandboxClock(), log: silent })
    rpc = new RpcClient({ chainId: '31337', url: anvil.url })
    const accounts = await prepare(rpc)
    const random = new SeededRandom(11)
    for (let number = 1; number <= BLOCKS; number++) {
      await mineRandom(rpc, accounts, random, oneOf(random, [0, 0, 1, 1, 2, 15]))
      blocks.push(await archived(rpc, number))
    }
  })
  afterAll(async () => {
    rpc.close()
    await anvil.stop()
  })

  /** An archive of all blocks, appended in portions of any size. */
  async function filled(journal?: MemoryJournal<ArchiveEntry>): Promise<BlockArchive> {
    const archive = await openArchive(journal)
    for (let at = 0, size = 1; at < blocks.length; at += size, size = (size * 7) % 151) {
      await archive.append(blocks.slice(at, at + size))
    }
    return archive
  }

  async function expectAnswers(archive: BlockArchive, step = 10): Promise<void> {
    for (const block of blocks.filter((_, index) => index % step === 0)) {
      const calls = questions(block)
      const answers = await Promise.all(calls.map(([method, ...params]) => archive.answer(method, params)))
      expect(answers).toEqual(await rpc.settle(calls))
    }
  }

  it('answers everything as Anvil did, reverted transactions and empty blocks included', async () => {
    const receipts = blocks.flatMap((block) => block.receipts)
    expect(new Set(receipts.map(({ status }) => status))).toEqual(new Set(['0x0', '0x1']))
    const archive = await filled()
    expect([archive.first, archive.last]).toEqual([1, BLOCKS])
    await expectAnswers(archive, 1)
  })

  it('says how each transaction went without a question', async () => {
    const archive = await filled()
    for (const { block, receipts } of blocks) {
      for (const [index, { hash }] of block.transactions.entries()) {
        expect(archive.outcome(hash)).toBe(receipts[index]!.status === '0x1' ? 'success' : 'reverted')
      }
    }
    expect(archive.outcome(UNKNOWN)).toBeUndefined()
  })

  it('finds logs by the rules of eth_getLogs', async () => {
    const archive = await filled()
    const topics = [undefined, [], [word(1)], [null, word(2)], [[word(0), word(3)], word(1)], [null, null, null]]
    for (const address of [undefined, LOGGERS[0]!, LOGGERS, [], [UNKNOWN.slice(0, 42)]]) {
      for (const topic of topics) {
        for (const [from, to] of [
          [1, BLOCKS],
          [70, 71],
          [42, 200],
        ] as const) {
          const filter = { ...(address && { address }), ...(topic && { topics: topic }) }
          const theirs = await rpc.call('eth_getLogs', { ...filter, fromBlock: hex(from), toBlock: hex(to) })
          expect(await archive.logs(filter, from, to)).toEqual(theirs)
        }
      }
    }
  })

  it('is the same again when it is opened from its journal', async () => {
    const journal = new MemoryJournal<ArchiveEntry>()
    await filled(journal)
    const reopened = await openArchive(journal)
    expect([reopened.first, reopened.last]).toEqual([1, BLOCKS])
    await expectAnswers(reopened)
    await reopened.clear()
    expect(await openArchive(journal)).toMatchObject({ first: undefined, last: undefined })
  })

  it('leaves to Anvil what it does not know', async () => {
    const archive = await filled()
    const calls: [string, ...unknown[]][] = [
      ['eth_getTransactionReceipt', UNKNOWN],
      ['eth_getTransactionReceipt'],
      ['eth_getTransactionByHash', 5],
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_getBlockByNumber', hex(BLOCKS + 1), true],
      ['eth_getBlockByNumber', '0x0', true],
      ['eth_getBlockByHash', UNKNOWN, true],
      ['eth_getBlockReceipts', { blockNumber: hex(BLOCKS + 1) }],
      ['eth_getLogs', { fromBlock: '0x1', toBlock: '0x2' }],
      ['eth_getLogs'],
      ['eth_getBalance', LOGGERS[0], '0x1'],
      ['constructor'],
    ]
    for (const [method, ...params] of calls) expect(archive.answer(method, params)).toBeUndefined()
    const hash = blocks.find(({ block }) => block.transactions.length > 0)!.block.transactions[0]!.hash
    expect(await archive.answer('eth_getTransactionReceipt', [hash.slice(0, 20).padEnd(66, '0')])).toBeUndefined()
  })

  it('forgets from a block on, within a segment too, and goes on from there', async () => {
    const journal = new MemoryJournal<ArchiveEntry>()
    const archive = await filled(journal)
    for (const from of [BLOCKS + 1, 240, 173, 172]) {
      await archive.truncate(from)
      for (const same of [archive, await openArchive(journal)]) {
        expect(same.last).toBe(from - 1)
        for (const { block } of blocks) {
          const kept = Number(block.number) < from
          expect(same.answer('eth_getBlockByHash', [block.hash, true]) !== undefined).toBe(kept)
          for (const { hash } of block.transactions) expect(same.outcome(hash) !== undefined).toBe(kept)
        }
      }
    }
    await expect(archive.append(blocks.slice(200))).rejects.toThrow('does not follow')
    await archive.append(blocks.slice(171))
    await expectAnswers(archive)
    await expectAnswers(await openArchive(journal))
    await archive.truncate(0)
    expect(archive.last).toBeUndefined()
    expect(await archive.logs({}, 0, BLOCKS)).toEqual([])
  })

  it('forgets what it has hardly read', async () => {
    const journal = new MemoryJournal<ArchiveEntry>()
    await filled(journal)
    const archive = new BlockArchive(Promise.resolve(journal))
    await archive.truncate(173)
    await archive.append(blocks.slice(172, 200))
    expect(archive.last).toBe(200)
    for (const { block } of blocks) {
      expect(archive.numberOf(block.hash)).toBe(Number(block.number) <= 200 ? Number(block.number) : undefined)
    }
  })

  it('refuses blocks with a gap between them, keeping none', async () => {
    const archive = new BlockArchive()
    await expect(archive.append([blocks[0]!, blocks[2]!])).rejects.toThrow('block 3 does not follow')
    expect(archive.last).toBeUndefined()
    await archive.append([])
    expect(archive.last).toBeUndefined()
  })
})
