import { numberToHex } from 'viem/utils'
import { isFields, type Params } from './capped-params.ts'

/** Which parameter names the block whose state is read. */
const STATE_OF: ReadonlyMap<string, number> = new Map([
  ['eth_getBalance', 1],
  ['eth_getTransactionCount', 1],
  ['eth_getCode', 1],
  ['eth_getAccount', 1],
  ['eth_getAccountInfo', 1],
  ['eth_getStorageValues', 1],
  ['eth_getStorageAt', 2],
  ['eth_getProof', 2],
  ['eth_call', 1],
  ['eth_estimateGas', 1],
  ['eth_createAccessList', 1],
  ['eth_simulateV1', 1],
  ['debug_traceCall', 1],
  ['ots_hasCode', 1],
])

/** What reads states of blocks that no parameter names so. */
const OF_OLD_STATES = /^(debug_trace(Transaction|Block)|trace_replay|eth_getTransactionBySenderAndNonce$)/

/** Names of blocks that the node would count from another one than we do. */
const TAGS: ReadonlySet<unknown> = new Set(['earliest', 'safe', 'finalized'])

/** The number of the block that a tag names; undefined to leave it to the node. */
export type TagNumber = (tag: string) => number | undefined

/** Parameters with numbers in place of `earliest`, `safe` and `finalized`, alone or in a filter of logs. */
export function withoutTags(params: Params, numberOf: TagNumber): Params {
  const plain = (value: unknown): unknown => {
    const number = TAGS.has(value) ? numberOf(value as string) : undefined
    return number === undefined ? value : numberToHex(number)
  }
  return params.map((param) => {
    if (!isFields(param)) return plain(param)
    const named = (['fromBlock', 'toBlock', 'blockNumber'] as const).filter((name) => TAGS.has(param[name]))
    if (named.length === 0) return param
    return { ...param, ...Object.fromEntries(named.map((name) => [name, plain(param[name])])) }
  })
}

/** What names the block whose state is read: a number, a hash or a tag; undefined for the latest, or if no state is. */
export function stateBlock(method: string, params: Params): string | undefined {
  const index = STATE_OF.get(method)
  const given = index === undefined ? undefined : params[index]
  const block = isFields(given) ? (given.blockHash ?? given.blockNumber) : given
  return typeof block === 'string' && block !== 'latest' && block !== 'pending' ? block : undefined
}

/** @returns true if a method may read the state of another block than the last one. */
export function readsOldState(method: string, params: Params): boolean {
  if (OF_OLD_STATES.test(method)) return true
  const index = STATE_OF.get(method)
  const block = index === undefined ? undefined : (params[index] ?? undefined)
  return block !== undefined && block !== 'latest' && block !== 'pending'
}

/** @returns true if a block is named by number or hash, not by a tag. */
export function isFixed(block: unknown): boolean {
  return (typeof block === 'string' && block.startsWith('0x')) || typeof block === 'number'
}
