import { numberToHex } from 'viem/utils'
import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import { BodyTooLargeError } from '../../support/read-body.ts'
import { Slots } from '../../support/serial-queue.ts'
import { inTime } from '../../support/waiting.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { FetchBudget } from '../fork/fetch-budget.ts'
import {
  CALL_TIME,
  FILTER_LIFE,
  FILTERS,
  LOG_BLOCKS,
  LOGS,
  overBudget,
  TRACED_GAS,
  TRANSACTION_GAS,
} from '../json-rpc/rpc-budget.ts'
import { OVERTAKEN, type RpcCall, type RpcClient, RpcError } from '../json-rpc/rpc-client.ts'
import {
  faultText,
  INVALID_REQUEST,
  isRequest,
  type JsonRpcRequest,
  refusalText,
  resultText,
} from '../json-rpc/rpc-server.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'
import { Allowance, tooLong } from './allowance.ts'
import { cappedParams, isCapped, isFields, type Params, withFees } from './capped-params.ts'
import { type KnownBlocks, stateBlock } from './known-blocks.ts'
import { isLong, isSlow } from './rpc-methods.ts'

/**
 * Ways to ask the node: `together` in one round trip, `apart` in round trips of their own, `slow` with only a few that execute
 * at a time, `old` (reads of old states) one by one and not while a block is mined.
 */
type Way = 'together' | 'apart' | 'slow' | 'old'

/**
 * Number of calls from outside that the node executes at a time. Blocks wait for those that have begun, and the node cannot cancel
 * a call: one that is given up goes on until its gas is used up.
 */
const EXECUTING = 2
/** The same for a fork, where calls mostly wait for the real chain. */
const EXECUTING_ON_FORK = 8
/**
 * Number of reads of an earlier block's state at a time. The node locks its old states during each. Another read, or a block that
 * is mined, then blocks a thread, possibly the one that would receive what the first read fetches: a deadlock.
 */
const OF_OLD_STATES = 1
/** Limit on the reads in one round trip. */
const TOGETHER = 100
/** Limit on concurrent reads in round trips of their own. */
const APART = 16

/** Reads of a transaction to which the node adds gas and fees if they are missing. */
const FILLED = /^eth_(fill|sign)Transaction$/

/** Beginning of every answer of Anvil to a request with id 0. */
const HEAD = '{"jsonrpc":"2.0","id":0,'
const HEAD_OF_ERROR = `${HEAD}"error":`

/** Reads that show the URL of the server from which the node reads: its path is a secret, and its next chain has the same. */
const SHOWS_SOURCE = /^(anvil|hardhat)_nodeInfo$/

/** Anvil always suggests a tip of one gwei, which is above the cap that clients derive from a base fee of zero. */
const TIP = 'eth_maxPriorityFeePerGas'

/**
 * Answers reads from outside within the budget of their request. One read cannot make another one fail, or keep the node from
 * mining for long. The archive answers for blocks that Anvil has forgotten.
 */
export class OutsideReads {
  readonly #deps: OutsideDeps
  readonly #slots: ReadonlyMap<Way, Slots>
  readonly #atOnce: Readonly<Record<Way, number>>
  readonly #filters: RpcFilters

  constructor(deps: OutsideDeps) {
    this.#deps = deps
    const slow = deps.fetches.real ? EXECUTING_ON_FORK : EXECUTING
    this.#slots = new Map([
      ['slow', new Slots(slow)],
      ['old', new Slots(OF_OLD_STATES)],
    ])
    this.#atOnce = { together: TOGETHER, apart: APART, slow, old: OF_OLD_STATES }
    this.#filters = new RpcFilters(deps.clock)
  }

  /**
   * Answers requests in order, each with a result or an error; undefined for a notification. Throws ChainUnavailableError.
   * @param patience resolves when the time of the first requests is up; later ones have the time of a call each
   */
  async answer(
    run: readonly unknown[],
    allowance: Allowance,
    patience = this.#patience(),
  ): Promise<(string | undefined)[]> {
    const answers: (string | undefined)[] = []
    let left = patience
    while (answers.length < run.length) {
      const start = answers.length
      const way = this.#wayOf(run[start])
      let end = start + 1
      while (end < run.length && end - start < this.#atOnce[way] && this.#wayOf(run[end]) === way) end++
      const some = run.slice(start, end)
      if (way === 'together' && some.length > 1)
        answers.push(...(await this.#together(some as JsonRpcRequest[], allowance, left)))
      else answers.push(...(await Promise.all(some.map((request) => this.#alone(request, allowance, left)))))
      left = this.#patience()
    }
    return answers
  }

  /**
   * Adds fees (zero) and gas to a transaction's parameters: the estimate or, if that fails, the most it may have.
   * Without these, the node would offer a tip, and estimate with all the gas of a block, again and again.
   */
  async filled(params: Params): Promise<Params> {
    const [given, ...rest] = params
    if (!isFields(given)) return params
    const transaction = withFees(given)
    if ((transaction.gas ?? undefined) !== undefined) return [transaction, ...rest]
    const estimate: JsonRpcRequest = { jsonrpc: '2.0', id: 0, method: 'eth_estimateGas', params: [transaction] }
    const [text] = await this.answer([estimate], new Allowance(this.#deps.clock))
    const { result } = JSON.parse(text ?? '{}') as { result?: Hex }
    return [{ ...transaction, gas: result ?? numberToHex(TRANSACTION_GAS) }, ...rest]
  }

  /** Asks in one round trip; one by one if the answer is too long, or the node does not accept the batch. */
  async #together(
    run: readonly JsonRpcRequest[],
    allowance: Allowance,
    patience: Promise<void>,
  ): Promise<(string | undefined)[]> {
    const asked = run.filter(({ id }) => id !== undefined)
    try {
      allowance.check('batch')
      const body = `[${asked.map(({ method, params }, id) => bodyOf(id, method, params ?? []))}]`
      const relayed = this.#deps.rpc.relay(body, allowance.bytes)
      const text = await inTime(relayed, patience, () => allowance.giveUp('batch'))
      const answers: unknown = JSON.parse(text)
      if (Array.isArray(answers)) {
        const texts = new Map(answers.map(({ id, ...answer }) => [asked[id], withId(answer, asked[id]?.id)]))
        allowance.spend(text)
        return run.map((request) => texts.get(request))
      }
    } catch (error) {
      if (error instanceof RpcError) return run.map((request) => refusalText(request, error))
      if (!(error instanceof BodyTooLargeError)) throw error
    }
    const texts: (string | undefined)[] = []
    for (const request of run) texts.push(await this.#alone(request, allowance, this.#patience()))
    return texts
  }

  /** Answers one request. When the patience ends, the answer is an error, while the node goes on. */
  async #alone(request: unknown, allowance: Allowance, patience: Promise<void>): Promise<string | undefined> {
    if (!isRequest(request)) return faultText(request, INVALID_REQUEST)
    const { id, method } = request
    if (id === undefined) return undefined
    try {
      allowance.check(method)
      const asked = this.#textOf(request, allowance, patience)
      const text = await inTime(asked, patience, () => allowance.giveUp(method))
      return allowance.spend(text)
    } catch (error) {
      if (error instanceof BodyTooLargeError) return refusalText(request, tooLong(method))
      if (error instanceof RpcError) return refusalText(request, error)
      throw error
    }
  }

  /** Chooses the way of a request; an invalid one needs no node and can take any. */
  #wayOf(request: unknown): Way {
    if (!isRequest(request)) return 'apart'
    const { method } = request
    const params = request.params ?? []
    if (this.#deps.blocks.readsKept(method, params)) return 'old'
    if (isSlow(method, params)) return 'slow'
    // Requests that are sent together are sent unchanged.
    const rewritten = method === TIP || isCapped(method) || FILLED.test(method) || SHOWS_SOURCE.test(method)
    return rewritten || isLong(method) || stateBlock(method, params) !== undefined ? 'apart' : 'together'
  }

  #patience(): Promise<void> {
    return this.#deps.clock.wallSleep(CALL_TIME)
  }

  async #textOf(request: JsonRpcRequest, allowance: Allowance, patience: Promise<void>): Promise<string> {
    const { method } = request
    const given = FILLED.test(method) ? await this.filled(request.params ?? []) : (request.params ?? [])
    const params = cappedParams(method, given)
    const ask = () => this.#ask({ ...request, params }, allowance, patience)
    const way = this.#wayOf(request)
    const slots = this.#slots.get(way)
    if (!slots) return ask()
    const release = await slots.take(patience)
    if (!release) return '' // the patience has ended: nobody reads this
    const execute = () => {
      const end = this.#deps.fetches.begin(patience)
      return ask().finally(end)
    }
    return (way === 'old' ? this.#betweenRounds(execute, patience) : execute()).finally(release)
  }

  /** Executes a read in the producer's queue, so that a block waits for one such read at most. */
  #betweenRounds(execute: () => Promise<string>, patience: Promise<void>): Promise<string> {
    let over = false
    void patience.then(() => {
      over = true
    })
    return this.#deps.producer.exclusive(async () => (over ? '' : execute()))
  }

  async #ask(request: JsonRpcRequest, allowance: Allowance, patience: Promise<void>): Promise<string> {
    const { archive, rpc, blocks } = this.#deps
    const { id, method } = request
    const params = request.params ?? []
    const [subject] = params
    if (method === TIP) return resultText(request, '0x0')
    const named = stateBlock(method, params)
    blocks.refuseForgotten(method, named)
    if (method === 'eth_feeHistory') blocks.refuseFuture(method, params[1])
    if (/^eth_(getLogs|newFilter)$/.test(method)) await checkRange(method, subject, rpc)
    if (method === 'eth_getLogs' && reachesArchive(subject, archive)) {
      let over = false
      void patience.then(() => {
        over = true
      })
      return resultText(request, await logsAcross(subject, { archive, rpc, over: () => over }))
    }
    if (/^debug_trace(Transaction|Block)/.test(method)) await checkTraced(method, subject, rpc)
    const known = await archive.answer(method, params)
    if (known !== undefined) return resultText(request, known)
    if (/^eth_new/.test(method)) return this.#newFilter(request)
    if (SHOWS_SOURCE.test(method)) return resultText(request, withoutSource(await rpc.call(method)))
    this.#filters.touch(subject)
    const text = await rpc.relay(bodyOf(0, method, params), allowance.bytes)
    // A block was mined meanwhile, and the node does not keep the named block's state any more.
    if (text.startsWith(HEAD_OF_ERROR) && text.includes(OVERTAKEN) && named !== undefined) {
      throw blocks.forgotten(method, archive.numberOf(named))
    }
    return answeredTo(id, text)
  }

  async #newFilter(request: JsonRpcRequest): Promise<string> {
    const { rpc, supervisor } = this.#deps
    const { method, params } = request
    supervisor.foreign.pinned = true
    const filter = await rpc.call(method, ...(params ?? []))
    this.#filters.add(filter)
    await rpc.settle(this.#filters.takeStale().map((stale): RpcCall => ['eth_uninstallFilter', stale]))
    return resultText(request, filter)
  }
}

function bodyOf(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

function withoutSource(info: { forkConfig?: object }): object {
  return { ...info, forkConfig: { ...info.forkConfig, forkUrl: null } }
}

/** Puts the caller's id into Anvil's answer, without parsing the rest, which may be long. */
function answeredTo(id: JsonRpcRequest['id'], text: string): string {
  if (!text.startsWith(HEAD)) return withId(JSON.parse(text), id)
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${text.slice(HEAD.length)}`
}

function withId(answer: object, id: JsonRpcRequest['id']): string {
  return JSON.stringify({ ...answer, jsonrpc: '2.0', id })
}

export interface OutsideDeps {
  rpc: RpcClient
  archive: BlockArchive
  supervisor: Pick<NodeSupervisor, 'foreign'>
  clock: SandboxClock
  fetches: FetchBudget
  blocks: Pick<KnownBlocks, 'readsKept' | 'refuseForgotten' | 'refuseFuture' | 'forgotten'>
  producer: Pick<BlockProducer, 'exclusive'>
}

/**
 * Throws RpcError if the trace of a mined transaction, or of a block, would be too much work: the node could not be stopped, and
 * would do nothing else meanwhile.
 */
async function checkTraced(method: string, subject: unknown, rpc: RpcClient): Promise<void> {
  const found = await rpc.settle([lookup(method, subject)])
  const { gasUsed } = Object(found[0] instanceof RpcError ? undefined : found[0]) as { gasUsed?: unknown }
  if (!(Number(gasUsed) > TRACED_GAS)) return
  const reason = `it used ${Number(gasUsed)} gas, and ${TRACED_GAS} is the limit of a trace; trace_transaction shows more`
  throw overBudget(method, reason)
}

function lookup(method: string, subject: unknown): RpcCall {
  if (method.endsWith('Transaction')) return ['eth_getTransactionReceipt', subject]
  return [method.endsWith('Hash') ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', subject, false]
}

/**
 * The filters from outside in the node, and the time when each was last read. The node accepts any number of them, and each
 * collects events until it is read.
 */
class RpcFilters {
  readonly #clock: SandboxClock
  /** Time of the last read in milliseconds of real time, by filter id, the least recently read first. */
  readonly #asked = new Map<unknown, number>()

  constructor(clock: SandboxClock) {
    this.#clock = clock
  }

  /** Call when a filter has been made. */
  add(id: unknown): void {
    this.#asked.set(id, this.#clock.wallNow())
  }

  /** Call when a filter is read. Other values are ignored. */
  touch(id: unknown): void {
    if (this.#asked.delete(id)) this.add(id)
  }

  /** Forgets and returns the ids of filters to remove: those not read for {@link FILTER_LIFE}, and the oldest over {@link FILTERS}. */
  takeStale(): unknown[] {
    const latest = this.#clock.wallNow() - FILTER_LIFE
    const stale = [...this.#asked].filter(([, asked], index) => asked < latest || this.#asked.size - index > FILTERS)
    for (const [id] of stale) this.#asked.delete(id)
    return stale.map(([id]) => id)
  }
}

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
async function checkRange(method: string, filter: unknown, rpc: RpcClient): Promise<void> {
  if (!isRange(filter)) return
  const from = numberOf(filter.fromBlock)
  if (from === undefined || (numberOf(filter.toBlock) ?? Number.POSITIVE_INFINITY) - from < LOG_BLOCKS) return
  const latest = Number(await rpc.call<Hex>('eth_blockNumber'))
  if (Math.min(numberOf(filter.toBlock) ?? latest, latest) - from < LOG_BLOCKS) return
  throw overBudget(method, `the range has more than ${LOG_BLOCKS} blocks, the limit of a filter`)
}

/** @returns true if a filter's range includes archived blocks. The node answers, or refuses, all other filters. */
function reachesArchive(filter: unknown, archive: BlockArchive): filter is RangeFilter {
  if (!isRange(filter)) return false
  const { first, last } = archive
  const { fromBlock, toBlock } = filter
  const from = numberOf(fromBlock)
  const to = isLatest(toBlock) ? Number.POSITIVE_INFINITY : numberOf(toBlock)
  if (first === undefined || last === undefined || from === undefined || to === undefined) return false
  return from <= last && to >= first && from <= to
}

/** Finds logs in blocks of which some are in the archive and the others in the node. Throws RpcError if there are too many. */
async function logsAcross(filter: RangeFilter, { archive, rpc, over }: LogSources): Promise<unknown[]> {
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
