import { numberToHex } from 'viem/utils'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { ChainJournal } from '../history/chain-journal.ts'
import { isRequest } from '../json-rpc/json-rpc.ts'
import { RpcError } from '../json-rpc/rpc-client.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { ChainWriter } from '../writing/chain-writer.ts'
import { isFields, type Params } from './capped-params.ts'

/** The code of geth's nodes for a state that is gone. */
const NOT_KEPT = -32000

/** Otterscan's searches for an account's transactions before a block, and after one. */
const SEARCH_BACK = 'ots_searchTransactionsBefore'
const SEARCH_FORWARD = 'ots_searchTransactionsAfter'

const LOGS = 'eth_getLogs'
/** What the archive tells of a block by its number. */
const OF_BLOCK =
  /^eth_get(Logs|Block(ByNumber|Receipts|TransactionCountByNumber)|(Raw)?TransactionByBlockNumberAndIndex)$/

/** Which blocks tags name, and of which blocks there is a state to read. */
export class KnownBlocks {
  readonly #deps: KnownBlocksDeps

  constructor(deps: KnownBlocksDeps) {
    this.#deps = deps
  }

  /** A request without tags that the node would count from another block than we do, and without blocks to come. */
  resolved = (request: unknown): unknown => {
    if (!isRequest(request) || !request.params) return request
    const { method } = request
    const params = withoutTags(request.params, this.#tagged)
    if (method === SEARCH_BACK) return { ...request, params: this.#fromLast(params) }
    if (method === SEARCH_FORWARD) return { ...request, params: this.#fromFirst(params) }
    return { ...request, params: OF_BLOCK.test(method) ? this.#ofCheckpoint(method, params) : params }
  }

  /**
   * Throws RpcError if the state of the block that a request names (see `stateBlock`) is not kept, before the node says that
   * it is empty.
   */
  refuseForgotten(method: string, named: unknown): void {
    if (named === undefined) return
    const { archive, journal, writer } = this.#deps
    const number = archive.numberOf(named)
    const { forked = -1 } = journal.base
    if (number === undefined || number > writer.height || number <= forked || number >= this.#oldest) return
    throw this.forgotten(method, number)
  }

  /** @returns true if the node keeps the state that is read. It asks the real chain for those before a fork. */
  readsKept(method: string, params: Params): boolean {
    if (!readsOldState(method, params)) return false
    const { archive, journal } = this.#deps
    const number = archive.numberOf(stateBlock(method, params))
    return number === undefined || number > (journal.base.forked ?? -1)
  }

  /** The error of a request for a state that is not kept. */
  forgotten(method: string, number: number | undefined): RpcError {
    const which = number === undefined ? 'that block' : `block ${number}`
    const reason = `state of ${which} is not kept: that of blocks ${this.#oldest} to ${this.#deps.writer.height} is`
    return new RpcError(method, NOT_KEPT, reason)
  }

  /**
   * A node that stands right at its checkpoint does not know all about its last block: named by its number, the archive tells
   * it. A chain that rested after others changed it begins so.
   */
  #ofCheckpoint(method: string, params: Params): Params {
    const { archive, writer, supervisor } = this.#deps
    const { height } = writer
    if (supervisor.states.after !== height || archive.last !== height) return params
    const [subject, ...rest] = params
    if (method !== LOGS) return subject === 'latest' ? [numberToHex(height), ...rest] : params
    if (!isFields(subject) || 'blockHash' in subject || (subject.fromBlock ?? 'latest') !== 'latest') return params
    return [{ ...subject, fromBlock: numberToHex(height) }, ...rest]
  }

  /** From a block that is not there yet, the node would look for every one before it, for ever. */
  #fromLast([address, before, ...rest]: Params): Params {
    const next = this.#deps.writer.height + 1
    const ahead = typeof before !== 'object' && Number(before) > next
    return [address, ahead ? next : before, ...rest]
  }

  /** From a block of the real chain that was forked, the node would look for millions that it does not have; from 0 it begins at its first. */
  #fromFirst([address, after, ...rest]: Params): Params {
    const { forked = 0 } = this.#deps.journal.base
    const before = typeof after !== 'object' && Number(after) < forked
    return [address, before ? 0 : after, ...rest]
  }

  /**
   * The only reorganisation there is, the fault's, replaces the last block: the one before is safe. On an embedded chain
   * `earliest` is the first block of the sandbox: what was before is no block of anybody's.
   */
  readonly #tagged = (tag: string): number | undefined => {
    const { archive, journal, writer } = this.#deps
    const { number, forked } = journal.base
    const first = archive.first ?? number + 1
    if (tag === 'earliest') return forked === undefined ? Math.min(first, writer.height) : undefined
    return Math.max(writer.height - (tag === 'safe' ? 1 : 2), Math.min(first, writer.height))
  }

  /** The first block whose state the node has; the last one's it always has. */
  get #oldest(): number {
    const { writer, supervisor } = this.#deps
    const { after, count } = supervisor.states
    return Math.min(writer.height, Math.max(after + 1, writer.height - count + 1))
  }
}

/** What is known of a chain's blocks without asking its node. */
export interface KnownBlocksDeps {
  archive: Pick<BlockArchive, 'first' | 'last' | 'numberOf'>
  journal: Pick<ChainJournal, 'base'>
  writer: Pick<ChainWriter, 'height'>
  supervisor: Pick<NodeSupervisor, 'states'>
}

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
type TagNumber = (tag: string) => number | undefined

/** Parameters with numbers in place of `earliest`, `safe` and `finalized`, alone or in a filter of logs. */
function withoutTags(params: Params, numberOf: TagNumber): Params {
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
function readsOldState(method: string, params: Params): boolean {
  if (OF_OLD_STATES.test(method)) return true
  const index = STATE_OF.get(method)
  const block = index === undefined ? undefined : (params[index] ?? undefined)
  return block !== undefined && block !== 'latest' && block !== 'pending'
}

/** @returns true if a block is named by number or hash, not by a tag. */
export function isFixed(block: unknown): boolean {
  return (typeof block === 'string' && block.startsWith('0x')) || typeof block === 'number'
}
