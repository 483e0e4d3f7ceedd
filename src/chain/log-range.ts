import { numberToHex } from 'viem/utils'
import type { BlockArchive } from './block-archive.ts'
import type { Rpc } from './rpc.ts'

/** An `eth_getLogs` filter by a range of blocks. */
interface RangeFilter {
  fromBlock?: unknown
  toBlock?: unknown
  address?: unknown
  topics?: unknown
}

/** Whether a filter asks for blocks the archive has. What names no such range is the node's to answer, or to refuse. */
export function reachesArchive(filter: unknown, archive: BlockArchive): filter is RangeFilter {
  if (typeof filter !== 'object' || filter === null || 'blockHash' in filter) return false
  const { first, last } = archive
  const { fromBlock, toBlock } = filter as RangeFilter
  const from = numberOf(fromBlock)
  const to = isLatest(toBlock) ? Number.POSITIVE_INFINITY : numberOf(toBlock)
  if (first === undefined || last === undefined || from === undefined || to === undefined) return false
  return from <= last && to >= first && from <= to
}

/** The logs of blocks some of which the archive has, and the node the others. */
export async function logsAcross(filter: RangeFilter, archive: BlockArchive, rpc: Rpc): Promise<unknown[]> {
  const { first = 0, last = 0 } = archive
  const from = numberOf(filter.fromBlock) ?? 0
  const latest = Number(await rpc.call('eth_blockNumber'))
  const to = Math.min(numberOf(filter.toBlock) ?? latest, latest)
  const ask = async (start: number, end: number): Promise<unknown[]> => {
    if (start > end) return []
    return rpc.call('eth_getLogs', { ...filter, fromBlock: numberToHex(start), toBlock: numberToHex(end) })
  }
  const parts = await Promise.all([
    ask(from, Math.min(to, first - 1)),
    archive.logs(filter, from, Math.min(to, last)),
    ask(Math.max(from, last + 1), to),
  ])
  return parts.flat()
}

function isLatest(block: unknown): boolean {
  return block === undefined || block === null || block === 'latest' || block === 'pending'
}

function numberOf(block: unknown): number | undefined {
  if (block === 'earliest') return 0
  return typeof block === 'string' && /^0x[0-9a-f]{1,12}$/i.test(block) ? Number(block) : undefined
}
