import { expect } from 'vitest'
import type { HarnessDeps } from './harness-parts.ts'

/** Calls in one request. */
const BATCH = 200

/** A receipt as far as it is compared. */
interface Receipt {
  status: string
  blockHash: string
  blockNumber: string
}

interface Block {
  number: string
  hash: string
  parentHash: string
  transactions: string[]
}

/** Asks the chain many things at once, in the order given. Throws what it answers instead of results. */
async function ask<Result>(rpcUrl: string, calls: readonly (readonly [string, ...unknown[]])[]): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < calls.length; at += BATCH) {
    const batch = calls.slice(at, at + BATCH).map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(batch) })
    const answers = (await response.json()) as { result: Result; error?: object }[]
    for (const { result, error } of answers) {
      if (error) throw new Error(JSON.stringify(error))
      results.push(result)
    }
  }
  return results
}

/** The chain's last block, by number. */
export async function headOf(rpcUrl: string): Promise<{ number: number; hash: string }> {
  const [block] = await ask<Block>(rpcUrl, [['eth_getBlockByNumber', 'latest', false]])
  return { number: Number(block!.number), hash: block!.hash }
}

/** The hash of the block of that number. */
export async function blockHash(rpcUrl: string, number: number): Promise<string | undefined> {
  const [block] = await ask<Block | null>(rpcUrl, [['eth_getBlockByNumber', `0x${number.toString(16)}`, false]])
  return block?.hash
}

/** Looks up a transaction that was just answered, as a client may at once; nobody is to be told that there is none. */
export async function lookUp({ rpcUrl, memory }: HarnessDeps, hash: string): Promise<void> {
  const receipts = await ask<Receipt | null>(rpcUrl, [['eth_getTransactionReceipt', hash]]).catch(() => undefined)
  if (!receipts) return // the chain does not answer now
  const [receipt] = receipts
  if (receipt?.status !== '0x1') memory.surprises.push(`answered, then looked up: ${hash} ${JSON.stringify(receipt)}`)
  else memory.blocks.set(hash, { number: Number(receipt.blockNumber), hash: undefined })
}

/**
 * Every hash resolves, as it was told, in the block where it was found first; `reorgs` may have replaced the block if it was
 * the last.
 */
export async function expectSameBlocks(
  { memory, rpcUrl }: Pick<HarnessDeps, 'memory' | 'rpcUrl'>,
  reorgs = false,
): Promise<void> {
  const outcomes = [...memory.outcomes()]
  const calls = outcomes.map(([hash]) => ['eth_getTransactionReceipt', hash] as const)
  const [head, receipts] = [await headOf(rpcUrl), await ask<Receipt | null>(rpcUrl, calls)]
  const wrong: string[] = []
  for (const [index, [hash, status]] of outcomes.entries()) {
    const receipt = receipts[index]
    const known = memory.blocks.get(hash)
    const number = Number(receipt?.blockNumber)
    const same = number === (known?.number ?? number) && receipt?.blockHash === (known?.hash ?? receipt?.blockHash)
    if (receipt?.status !== status || !same) {
      const now = receipt && `status ${receipt.status}, block ${number} ${receipt.blockHash}`
      wrong.push(`${hash}: ${now ?? 'no receipt'}; before: status ${status}, block ${known?.number} ${known?.hash}`)
    } else memory.blocks.set(hash, { number, hash: reorgs && number === head.number ? undefined : receipt.blockHash })
  }
  expect(wrong.join('\n'), `${wrong.length} of ${outcomes.length} transactions are wrong`).toBe('')
}

/** Every block but the first names the one before it, and holds the transactions that say they stand in it. */
export async function expectLinkedBlocks({ memory, rpcUrl }: Pick<HarnessDeps, 'memory' | 'rpcUrl'>): Promise<void> {
  const held = new Map<number, string[]>()
  for (const [hash, { number }] of memory.blocks) held.set(number, [...(held.get(number) ?? []), hash])
  const { number: last } = await headOf(rpcUrl)
  const first = Math.min(last, ...held.keys())
  const numbers = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const calls = numbers.map((number) => ['eth_getBlockByNumber', `0x${number.toString(16)}`, false] as const)
  const blocks = await ask<Block | null>(rpcUrl, calls)
  const wrong = numbers.filter((number, i) => {
    const [before, block] = [blocks[i - 1], blocks[i]]
    if (!block || (before && block.parentHash !== before.hash)) return true
    return held.get(number)?.some((hash) => !block.transactions.includes(hash)) ?? false
  })
  expect(wrong, `blocks from ${first} to ${last}`).toEqual([])
}
