import type { ArchivedBlock } from '../../src/chain/archive/archived-block.ts'
import { type ArchiveEntry, BlockArchive } from '../../src/chain/archive/block-archive.ts'
import type { RpcCall, RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import type { Journal } from '../../src/domain/ports/journal.ts'
import type { SeededRandom } from '../../src/support/random.ts'

/** Logs its third word under its first two as topics; reverts when called with nothing. */
const LOGGER_CODE = '0x36156017573660006000376020356000356020' + '6040a2005b60006000fd'
export const LOGGERS = ['0x00000000000000000000000000000000000a0001', '0x00000000000000000000000000000000000a0002']
const STRANGER = '0x00000000000000000000000000000000000b0001'

export const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`

export const hex = (n: number): string => `0x${n.toString(16)}`

export function oneOf<T>(random: SeededRandom, list: readonly T[]): T {
  return list[Math.floor(random.next('archive') * list.length)]!
}

/** A journal in memory. */
export class MemoryJournal<Entry> implements Journal<Entry> {
  entries: string[] = []

  async *read(): AsyncIterable<Entry> {
    for (const entry of this.entries) yield JSON.parse(entry) as Entry
  }

  async append(entry: Entry): Promise<void> {
    this.entries.push(JSON.stringify(entry))
  }

  async rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    const rewritten: string[] = []
    for await (const entry of entries) rewritten.push(JSON.stringify(entry))
    this.entries = rewritten
  }

  get size(): number {
    return this.entries.reduce((sum, entry) => sum + entry.length, 0)
  }

  async close(): Promise<void> {}
}

/** An archive of what the journal holds. */
export async function openArchive(journal?: Journal<ArchiveEntry>): Promise<BlockArchive> {
  const archive = new BlockArchive(journal && Promise.resolve(journal))
  await archive.opened
  return archive
}

/** Puts contracts that log on a bare Anvil, and an impersonated account. */
export async function prepare(rpc: RpcClient): Promise<string[]> {
  const code = LOGGERS.map((address): RpcCall => ['anvil_setCode', address, LOGGER_CODE])
  await rpc.batch([...code, ['anvil_impersonateAccount', STRANGER]])
  return rpc.call<string[]>('eth_accounts')
}

/** Mines a block of so many random transactions: logging, sending, reverting, creating; of every type. */
export async function mineRandom(rpc: RpcClient, accounts: readonly string[], random: SeededRandom, count: number) {
  for (let index = 0; index < count; index++) {
    await rpc.call('eth_sendTransaction', randomTransaction(accounts, random))
  }
  await rpc.call('evm_mine')
}

function randomTransaction(accounts: readonly string[], random: SeededRandom): object {
  const pick = <T>(list: readonly T[]) => oneOf(random, list)
  const from = pick([...accounts, STRANGER])
  const price = { gas: '0x30d40' }
  const fees = pick([
    { gasPrice: '0x0' },
    { gasPrice: '0x0', accessList: [{ address: LOGGERS[0], storageKeys: [word(1)] }] },
    { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' },
  ])
  const words = [1, 2, 3].map(() => word(pick([0, 1, 2, 3])).slice(2)).join('')
  return {
    ...{ from, ...price, ...fees },
    ...pick([
      { to: pick(LOGGERS), data: `0x${words}` },
      { to: pick(LOGGERS), data: `0x${words}` },
      { to: pick(LOGGERS) },
      { to: pick(accounts), value: from === STRANGER ? '0x0' : '0x1' },
      { data: '0x6000600055' },
    ]),
  }
}

/** What Anvil says of a block while it is fresh. */
export async function archived(rpc: RpcClient, number: number): Promise<ArchivedBlock> {
  const [block, receipts] = await rpc.batch([
    ['eth_getBlockByNumber', hex(number), true],
    ['eth_getBlockReceipts', hex(number)],
  ])
  return { block, receipts } as ArchivedBlock
}

/** Every question about a block and its transactions that the archive answers. */
export function questions({ block }: ArchivedBlock): RpcCall[] {
  const { number, hash } = block
  const count = hex(block.transactions.length)
  const ofTransactions = block.transactions.flatMap(({ hash: transaction }, index): RpcCall[] => [
    ['eth_getTransactionReceipt', transaction],
    ['eth_getTransactionByHash', transaction],
    ['eth_getRawTransactionByHash', transaction],
    ['eth_getTransactionByBlockNumberAndIndex', number, hex(index)],
    ['eth_getRawTransactionByBlockHashAndIndex', hash, hex(index)],
  ])
  return [
    ['eth_getBlockByNumber', number, true],
    ['eth_getBlockByNumber', number, false],
    ['eth_getBlockByNumber', Number(number), false],
    ['eth_getBlockByHash', hash, true],
    ['eth_getBlockByHash', hash.toUpperCase().replace('X', 'x'), false],
    ['eth_getBlockReceipts', number],
    ['eth_getBlockReceipts', { blockHash: hash }],
    ['eth_getBlockTransactionCountByNumber', number],
    ['eth_getBlockTransactionCountByHash', hash],
    ['eth_getTransactionByBlockHashAndIndex', hash, count],
    ['eth_getRawTransactionByBlockNumberAndIndex', number, count],
    ['eth_getLogs', { blockHash: hash, address: LOGGERS[0] }],
    ...ofTransactions,
  ]
}
