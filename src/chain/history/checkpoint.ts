import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { type Block, LATEST_BLOCK } from '../json-rpc/block.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'

/** The state of a chain after one of its blocks: all that another Anvil needs to go on from there. */
export interface Checkpoint {
  block: Block
  /**
   * Accounts by address, with code and storage, in the JSON that both Anvil's dump and a genesis file use.
   * For a fork, only the accounts that were changed or read.
   */
  accounts: string
  /** Number of the real chain's block at which the fork was made; undefined for an embedded chain. */
  forked?: number
  /**
   * Rules by which blocks are made (`anvil --hardfork`). By default Anvil chooses them by the block's time, for chains that it
   * knows; at a checkpoint it might choose others than when the chain began. Undefined for the checkpoint that a chain begins with.
   */
  hardfork?: string
}

const ACCOUNTS = '"accounts":'
/** The text after the accounts in a dump. Accounts hold only hexadecimal digits, so it cannot occur within them. */
const BEHIND = ',"best_block_number"'
const CHUNK = 1024 * 1024

/**
 * Takes a checkpoint; the chain must not change meanwhile. After the accounts, a dump holds the kept transactions with their
 * traces, many times the size of the accounts, so it is read only as far as needed.
 */
export async function takeCheckpoint(rpc: RpcClient): Promise<Omit<Checkpoint, 'forked'>> {
  const block = await rpc.call<Block>(...LATEST_BLOCK)
  const { hardFork } = await rpc.call<{ hardFork: string }>('anvil_nodeInfo')
  const dump = await rpc.call<Hex>('anvil_dumpState')
  const accounts = await accountsOf(Buffer.from(dump.slice(2), 'hex'))
  return { block, accounts, hardfork: hardFork.toLowerCase().replace(/^merge$/, 'paris') } // the flag has another name for it
}

/** @returns true if two checkpoints are of the same chain after the same block */
export function isSameCheckpoint(one: Checkpoint, other: Checkpoint): boolean {
  return one === other || (one.block.hash === other.block.hash && one.accounts === other.accounts)
}

/** Reads the accounts from a gzipped Anvil dump. Throws if it has none. */
export async function accountsOf(dump: Buffer): Promise<string> {
  let text = ''
  for await (const chunk of Readable.from([dump]).pipe(createGunzip({ chunkSize: CHUNK }))) {
    text += (chunk as Buffer).toString('latin1')
    const end = text.indexOf(BEHIND)
    if (end >= 0) return text.slice(text.indexOf(ACCOUNTS) + ACCOUNTS.length, end)
  }
  throw new Error("Anvil's dump holds no accounts")
}

/** Makes the content of a genesis file (`anvil --init`) with the accounts of a checkpoint. */
export function genesisOf({ accounts }: Checkpoint, chainId: string): string {
  return `{"config":{"chainId":${Number(chainId)}},"gasLimit":"${GAS_LIMIT}","difficulty":"0x0","alloc":${accounts}}`
}

/** The gas limit of every block: room for hundreds of transfers. */
export const GAS_LIMIT = numberToHex(1_000_000_000)
