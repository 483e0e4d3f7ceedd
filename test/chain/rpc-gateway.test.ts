import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BlockArchive } from '../../src/chain/archive/block-archive.ts'
import { FetchBudget } from '../../src/chain/fork/fetch-budget.ts'
import { RpcGateway } from '../../src/chain/gateway/rpc-gateway.ts'
import { ChainJournal, MemoryJournal } from '../../src/chain/history/chain-journal.ts'
import type { Block } from '../../src/chain/json-rpc/block.ts'
import { NodeEvents } from '../../src/chain/json-rpc/node-events.ts'
import { type RpcCall, RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import { ForeignState } from '../../src/chain/node/anvil-node.ts'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import { ChainReader } from '../../src/chain/reading/chain-reader.ts'
import { BlockProducer } from '../../src/chain/rounds/block-producer.ts'
import { ChainWriter } from '../../src/chain/writing/chain-writer.ts'
import { NodeRecycler } from '../../src/chain/writing/node-recycler.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { archived, hex, LOGGERS, mineRandom, oneOf, prepare, questions, word } from './archive-fixture.ts'
import { silent } from './chain-fixture.ts'

const KEPT = 8
const BLOCKS = 40
/** Archived up to here, with blocks that Anvil still has. */
const ARCHIVED = BLOCKS - 3

describe('the RPC of an Anvil that forgets', () => {
  let anvil: AnvilProcess
  let rpc: RpcClient
  let gateway: RpcGateway
  let producer: BlockProducer
  /** Every question, and what Anvil answered while it knew. */
  const fresh: { number: number; calls: RpcCall[]; answers: unknown[] }[] = []
  const logs: { blockNumber: string; address: string; topics: string[] }[] = []
  beforeAll(async () => {
    const clock = new SandboxClock()
    const flags = ['--transaction-block-keeper', String(KEPT)]
    anvil = await AnvilProcess.start({ chainId: '31337', clock, log: silent, flags })
    rpc = new RpcClient({ chainId: '31337', url: anvil.url })
    const reader = new ChainReader(rpc, clock)
    const archive = new BlockArchive()
    const journal = new ChainJournal(new MemoryJournal())
    const block = await rpc.call<Block>('eth_getBlockByNumber', 'latest', false)
    await journal.replace({ checkpoint: { block, accounts: '{}' }, operations: [] })
    // With an archive of its own: what stands in the other one is this test's business.
    const own = new BlockArchive()
    const events = new NodeEvents()
    const writer = new ChainWriter({ chainId: '31337', rpc, reader, events, journal, archive: own })
    const accounts = await prepare(rpc)
    const random = new SeededRandom(5)
    for (let number = 1; number <= BLOCKS; number++) {
      await mineRandom(rpc, accounts, random, number > ARCHIVED ? 12 : oneOf(random, [0, 1, 12]))
      const block = await archived(rpc, number)
      const calls = questions(block)
      fresh.push({ number, calls, answers: await rpc.batch(calls) })
      logs.push(...(block.receipts.flatMap((receipt) => receipt.logs) as unknown as typeof logs))
      if (number <= ARCHIVED) await archive.append([block])
    }
    // Not before: it mines whatever waits in the pool.
    const states = { after: -1, count: 1_000 }
    const supervisor = { foreign: Object.assign(new ForeignState(), { pinned: true }), states, async renew() {} }
    const parts = { chainId: '31337', rpc, reader, events, journal, archive, writer, supervisor, clock, log: silent }
    producer = new BlockProducer({ ...parts, recycler: new NodeRecycler(parts) })
    gateway = new RpcGateway({ ...parts, producer, fetches: new FetchBudget(clock) })
  })
  afterAll(async () => {
    producer.stop('the test is over')
    rpc.close()
    await anvil.stop()
  })

  async function ask(method: string, ...params: unknown[]): Promise<unknown> {
    const text = await gateway.answer({ jsonrpc: '2.0', id: 1, method, params })
    return (JSON.parse(text ?? '') as { result?: unknown }).result
  }

  it('answers as when the blocks were fresh, one by one and in batches across the border', async () => {
    const first = fresh.find(({ answers }) => (answers[5] as unknown[]).length > 0)!
    expect(await rpc.call('eth_getBlockReceipts', hex(first.number))).not.toEqual(first.answers[5])
    for (const { calls, answers } of fresh.filter((_, index) => index % 6 === 0)) {
      for (const [index, call] of calls.entries()) expect(await ask(...call)).toEqual(answers[index])
    }
    const mixed = [...fresh.slice(0, 5), ...fresh.slice(-5)].flatMap(({ calls, answers }) =>
      calls.map((call, index) => ({ call, answer: answers[index] })),
    )
    const all = mixed.sort((one, other) => JSON.stringify(one.call).length - JSON.stringify(other.call).length)
    const text = await gateway.answer(
      all.map(({ call: [method, ...params] }, id) => ({ jsonrpc: '2.0', id, method, params })),
    )
    expect(JSON.parse(text!)).toEqual(all.map(({ answer }, id) => ({ jsonrpc: '2.0', id, result: answer })))
  })

  it('finds no transaction at what is no index', async () => {
    for (const index of [{ toString: 1, valueOf: 1 }, {}, [], null, true, '', 'x', -1, 1.5]) {
      for (const method of ['eth_getTransactionByBlockNumberAndIndex', 'eth_getRawTransactionByBlockNumberAndIndex']) {
        expect(await ask(method, hex(1), index)).toBeNull()
      }
    }
  })

  it('finds logs on both sides of the border', async () => {
    const within = (from: number, to: number) =>
      logs.filter(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to)
    expect(within(1, ARCHIVED).length).toBeGreaterThan(0)
    expect(within(ARCHIVED + 1, BLOCKS).length).toBeGreaterThan(0)
    expect(await ask('eth_getLogs', { fromBlock: 'earliest' })).toEqual(logs)
    expect(await ask('eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' })).toEqual(logs)
    for (const [from, to] of [
      [3, 9],
      [ARCHIVED - 1, ARCHIVED + 1],
      [ARCHIVED, ARCHIVED],
      [ARCHIVED + 1, BLOCKS],
      [2, BLOCKS + 50],
    ] as const) {
      expect(await ask('eth_getLogs', { fromBlock: hex(from), toBlock: hex(to) })).toEqual(within(from, to))
    }
    const some = { fromBlock: '0x0', address: LOGGERS[1], topics: [null, [word(1), word(2)]] }
    const matching = logs.filter(
      ({ address, topics }) => address === LOGGERS[1] && [word(1), word(2)].includes(topics[1]!),
    )
    expect(matching.length).toBeGreaterThan(0)
    expect(await ask('eth_getLogs', some)).toEqual(matching)
    expect(await ask('eth_getLogs', { fromBlock: '0x9', toBlock: '0x2' })).toEqual([])
  })

  it('makes a change wait for its turn, and no read', async () => {
    const order: string[] = []
    let go: () => void = () => {}
    const held = producer.exclusive(async () => {
      await new Promise<void>((resolve) => {
        go = resolve
      })
      order.push('held')
    })
    const changed = ask('anvil_setBalance', LOGGERS[0], '0x7').then(() => order.push('changed'))
    expect(await ask('eth_chainId')).toBe('0x7a69')
    order.push('read')
    go()
    await Promise.all([held, changed])
    expect(order).toEqual(['read', 'held', 'changed'])
  })
})
