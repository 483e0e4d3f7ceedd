import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { LOG_BLOCKS, LOGS, overBudget } from '../json-rpc/rpc-budget.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'
import type { BlockArchive } from './block-archive.ts'

/** An `eth_getLogs` filter by a range of blocks. */
interface RangeFilter {
  fromBlock?: unknown
  toBlock?: unknown
  address?: unknown
  topics?: unknown
}

/** Sources of logs for a range that is partly in the archive. */
interface LogSources {
  archive: BlockArchive
  rpc: RpcClient
  /** @returns true if nobody waits for the answer any more */
  over(): boolean
}

const METHOD = 'eth_getLogs'
/** Number of archived blocks that are read between two checks of the budget. */
const STEP = 64

/** Throws RpcError if a filter's range has more than {@link LOG_BLOCKS} blocks; blocks after the latest do not count. */
export async function checkRange(method: string, filter: unknown, rpc: RpcClient): Promise<void> {
  if (!isRange(filter)) return
  const from = numberOf(filter.fromBlock)
  if (from === undefined || (numberOf(filter.toBlock) ?? Number.POSITIVE_INFINITY) - from < LOG_BLOCKS) return
  const latest = Number(await rpc.call<Hex>('eth_blockNumber'))
  if (Math.min(numberOf(filter.toBlock) ?? latest, latest) - from < LOG_BLOCKS) return
  throw overBudget(method, `the range has more than ${LOG_BLOCKS} blocks, the limit of a filter`)
}

/** @returns true if a filter's range includes archived blocks. The node answers, or refuses, all other filters. */
export function reachesArchive(filter: unknown, archive: BlockArchive): filter is RangeFilter {
  if (!isRange(filter)) return false
  const { first, last } = archive
  const { fromBlock, toBlock } = filter
  const from = numberOf(fromBlock)
  const to = isLatest(toBlock) ? Number.POSITIVE_INFINITY : numberOf(toBlock)
  if (first === undefined || last === undefined || from === undefined || to === undefined) return false
  return from <= last && to >= first && from <= to
}

/** Finds logs in blocks of which some are in the archive and the others in the node. Throws RpcError if there are too many. */
export async function logsAcross(filter: RangeFilter, { archive, rpc, over }: LogSources): Promise<unknown[]> {
  const { first = 0, last = 0 } = archive
  const from = numberOf(filter.fromBlock) ?? 0
  const latest = Number(await rpc.call('eth_blockNumber'))
  const to = Math.min(numberOf(filter.toBlock) ?? latest, latest)
  const ask = async (start: number, end: number): Promise<unknown[]> => {
    if (start > end) return []
    return rpc.call(METHOD, { ...filter, fromBlock: numberToHex(start), toBlock: numberToHex(end) })
  }
  const logs = await ask(from, Math.min(to, first - 1))
  for (let start = Math.max(from, first); start <= Math.min(to, last) && !over(); start += STEP) {
    for (const log of await archive.logs(filter, start, Math.min(to, last, start + STEP - 1))) logs.push(log)
    if (logs.length > LOGS) throw overBudget(METHOD, `more than ${LOGS} logs, the limit of an answer`)
  }
  return logs.concat(await ask(Math.max(from, last + 1), to))
}

function isRange(filter: unknown): filter is RangeFilter {
  return typeof filter === 'object' && filter !== null && !('blockHash' in filter)
}

function isLatest(block: unknown): boolean {
  return block === undefined || block === null || block === 'latest' || block === 'pending'
}

function numberOf(block: unknown): number | undefined {
  if (block === 'earliest') return 0
  return typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) ? Number(block) : undefined
}
