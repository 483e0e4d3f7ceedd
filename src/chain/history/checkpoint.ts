import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { type Block, LATEST_BLOCK } from '../json-rpc/block.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'

/** A chain after one of its blocks: all that is needed to go on from there on another Anvil. */
export interface Checkpoint {
  block: Block
  /**
   * Accounts by address, with code and storage: JSON in the words in which Anvil dumps them and a genesis file names them.
   * For a fork, only the accounts that were changed or read.
   */
  accounts: string
  /** The block of the real chain that a fork was made at; absent for an embedded chain. */
  forked?: number
  /**
   * Under which rules blocks are made (`anvil --hardfork`). Left to itself, Anvil looks them up by the block's time, for chains
   * it knows: those of a checkpoint may be others than those that its chain began with. Absent where it began.
   */
  hardfork?: string
}

const ACCOUNTS = '"accounts":'
/** What follows the accounts in a dump. Accounts hold nothing but hexadecimal digits, so it cannot stand within them. */
const BEHIND = ',"best_block_number"'
const CHUNK = 1024 * 1024

/**
 * Takes a checkpoint of a chain that nobody changes meanwhile. A dump holds the kept transactions with their traces behind
 * the accounts, many times their size: it is read no further than needed.
 */
export async function takeCheckpoint(rpc: RpcClient): Promise<Omit<Checkpoint, 'forked'>> {
  const block = await rpc.call<Block>(...LATEST_BLOCK)
  const { hardFork } = await rpc.call<{ hardFork: string }>('anvil_nodeInfo')
  const dump = await rpc.call<Hex>('anvil_dumpState')
  const accounts = await accountsOf(Buffer.from(dump.slice(2), 'hex'))
  return { block, accounts, hardfork: hardFork.toLowerCase().replace(/^merge$/, 'paris') } // which Anvil's flag does not call so
}

/** @returns true if two checkpoints are of the same chain after the same block. */
export function isSameCheckpoint(one: Checkpoint, other: Checkpoint): boolean {
  return one === other || (one.block.hash === other.block.hash && one.accounts === other.accounts)
}

/** The accounts of a gzipped Anvil dump. */
export async function accountsOf(dump: Buffer): Promise<string> {
  let text = ''
  for await (const chunk of Readable.from([dump]).pipe(createGunzip({ chunkSize: CHUNK }))) {
    text += (chunk as Buffer).toString('latin1')
    const end = text.indexOf(BEHIND)
    if (end >= 0) return text.slice(text.indexOf(ACCOUNTS) + ACCOUNTS.length, end)
  }
  throw new Error("Anvil's dump holds no accounts")
}

/** A genesis file (`anvil --init`) that puts the accounts in their place. */
export function genesisOf({ accounts }: Checkpoint, chainId: string): string {
  return `{"config":{"chainId":${Number(chainId)}},"gasLimit":"${GAS_LIMIT}","difficulty":"0x0","alloc":${accounts}}`
}

/** The gas limit of every block: room for hundreds of transfers. */
export const GAS_LIMIT = numberToHex(1_000_000_000)
