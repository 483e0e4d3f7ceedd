import { numberToHex } from 'viem/utils'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { ChainJournal } from '../history/chain-journal.ts'
import { RpcError } from '../json-rpc/rpc-client.ts'
import { isRequest } from '../json-rpc/rpc-server.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { ChainWriter } from '../writing/chain-writer.ts'
import { isFields, type Params } from './capped-params.ts'

/** The error code of geth for a state that is no longer kept. */
const NOT_KEPT = -32000

/** Otterscan's searches for an account's transactions before a block, and after one. */
const SEARCH_BACK = 'ots_searchTransactionsBefore'
const SEARCH_FORWARD = 'ots_searchTransactionsAfter'

const LOGS = 'eth_getLogs'
/** Methods that the archive answers for a block given by number. */
const OF_BLOCK =
  /^eth_get(Logs|Block(ByNumber|Receipts|TransactionCountByNumber)|(Raw)?TransactionByBlockNumberAndIndex)$/

/** Resolves block tags, and knows for which blocks the node has a state. */
export class KnownBlocks {
  readonly #deps: KnownBlocksDeps

  constructor(deps: KnownBlocksDeps) {
    this.#deps = deps
  }

  /** Rewrites a request: replaces tags that the node would resolve to other blocks than we do, and numbers of future blocks. */
  resolved = (request: unknown): unknown => {
    if (!isRequest(request) || !request.params) return request
    const { method } = request
    const params = withoutTags(request.params, this.#tagged)
    if (method === SEARCH_BACK) return { ...request, params: this.#fromLast(params) }
    if (method === SEARCH_FORWARD) return { ...request, params: this.#fromFirst(params) }
    return { ...request, params: OF_BLOCK.test(method) ? this.#ofCheckpoint(method, params) : params }
  }

  /**
   * Throws RpcError if the state of the block that a request names (see `stateBlock`) is not kept: the node would answer that
   * accounts are empty.
   */
  refuseForgotten(method: string, named: unknown): void {
    if (named === undefined) return
    const { archive, journal, writer } = this.#deps
    const number = archive.numberOf(named)
    const { forked = -1 } = journal.base
    if (number === undefined || number > writer.height || number <= forked || number >= this.#oldest) return
    throw this.forgotten(method, number)
  }

  /**
   * Throws RpcError if a fee history is to end at a block that does not exist yet, as geth does: the node would answer with the fees of blocks
   * that were taken back.
   */
  refuseFuture(method: string, newest: unknown): void {
    const { height } = this.#deps.writer
    if (!isFixed(newest) || !(Number(newest) > height)) return
    throw new RpcError(method, NOT_KEPT, `there is no block ${Number(newest)} yet: the last one is ${height}`)
  }

  /** @returns true if a request reads an old state that the node keeps itself; states before a fork come from the real chain */
  readsKept(method: string, params: Params): boolean {
    if (!readsOldState(method, params)) return false
    const { archive, journal } = this.#deps
    const number = archive.numberOf(stateBlock(method, params))
    return number === undefined || number > (journal.base.forked ?? -1)
  }

  /** Makes the error of a request for a state that is not kept. */
  forgotten(method: string, number: number | undefined): RpcError {
    const which = number === undefined ? 'that block' : `block ${number}`
    const reason = `state of ${which} is not kept: that of blocks ${this.#oldest} to ${this.#deps.writer.height} is`
    return new RpcError(method, NOT_KEPT, reason)
  }

  /**
   * Replaces `latest` by its number while the node stands right at its checkpoint: such a node does not know all about its last
   * block, but the archive answers for it by number. A chain that rested after it was changed from outside begins so.
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

  /** Starts a backward search at the next block at most: from a future block, the node would look up every block before it. */
  #fromLast([address, before, ...rest]: Params): Params {
    const next = this.#deps.writer.height + 1
    const ahead = typeof before !== 'object' && Number(before) > next
    return [address, ahead ? next : before, ...rest]
  }

  /**
   * Starts a forward search that begins before the fork at 0, which the node takes as its own first block: from a block of the
   * real chain, it would look for millions of blocks that it does not have.
   */
  #fromFirst([address, after, ...rest]: Params): Params {
    const { forked = 0 } = this.#deps.journal.base
    const before = typeof after !== 'object' && Number(after) < forked
    return [address, before ? 0 : after, ...rest]
  }

  /**
   * Resolves a tag. The only reorganisation, that of the fault, replaces the last block, so the one before is safe. On an embedded
   * chain `earliest` is the first block of the sandbox: blocks before it belong to the build of the chain.
   */
  readonly #tagged = (tag: string): number | undefined => {
    const { archive, journal, writer } = this.#deps
    const { number, forked } = journal.base
    const first = archive.first ?? number + 1
    if (tag === 'earliest') return forked === undefined ? Math.min(first, writer.height) : undefined
    return Math.max(writer.height - (tag === 'safe' ? 1 : 2), Math.min(first, writer.height))
  }

  /** Number of the first block whose state the node has. It always has the state of the last block. */
  get #oldest(): number {
    const { writer, supervisor } = this.#deps
    const { after, count } = supervisor.states
    return Math.min(writer.height, Math.max(after + 1, writer.height - count + 1))
  }
}

/** Sources of what is known about a chain's blocks without asking its node. */
export interface KnownBlocksDeps {
  archive: Pick<BlockArchive, 'first' | 'last' | 'numberOf'>
  journal: Pick<ChainJournal, 'base'>
  writer: Pick<ChainWriter, 'height'>
  supervisor: Pick<NodeSupervisor, 'states'>
}

/** Index of the parameter that names the block whose state a method reads. */
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

/** Methods that read old states, but whose parameters do not name the block. */
const OF_OLD_STATES = /^(debug_trace(Transaction|Block)|trace_replay|eth_getTransactionBySenderAndNonce$)/

/** Tags that the node would resolve to other blocks than we do. */
const TAGS: ReadonlySet<unknown> = new Set(['earliest', 'safe', 'finalized'])

/** Resolves a tag to a block number; undefined leaves it to the node. */
type TagNumber = (tag: string) => number | undefined

/** Replaces `earliest`, `safe` and `finalized` in parameters by numbers, alone or in a filter of logs. */
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

/** @returns the number, hash or tag of the block whose state a request reads; undefined for the latest, or if it reads no state */
export function stateBlock(method: string, params: Params): string | undefined {
  const index = STATE_OF.get(method)
  const given = index === undefined ? undefined : params[index]
  const block = isFields(given) ? (given.blockHash ?? given.blockNumber) : given
  return typeof block === 'string' && block !== 'latest' && block !== 'pending' ? block : undefined
}

/** @returns true if a method may read the state of another block than the last one */
function readsOldState(method: string, params: Params): boolean {
  if (OF_OLD_STATES.test(method)) return true
  const index = STATE_OF.get(method)
  const block = index === undefined ? undefined : (params[index] ?? undefined)
  return block !== undefined && block !== 'latest' && block !== 'pending'
}

/** @returns true if a block is named by number or hash, not by a tag */
export function isFixed(block: unknown): boolean {
  return (typeof block === 'string' && block.startsWith('0x')) || typeof block === 'number'
}
