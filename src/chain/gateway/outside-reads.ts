import { numberToHex } from 'viem/utils'
import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import { BodyTooLargeError } from '../../support/read-body.ts'
import { Slots } from '../../support/slots.ts'
import { inTime } from '../../support/waiting.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import { checkRange, logsAcross, reachesArchive } from '../archive/log-range.ts'
import type { FetchBudget } from '../fork/fetch-budget.ts'
import {
  faultText,
  INVALID_REQUEST,
  isRequest,
  type JsonRpcRequest,
  refusalText,
  resultText,
} from '../json-rpc/json-rpc.ts'
import { CALL_TIME, FILTER_LIFE, FILTERS, overBudget, TRACED_GAS, TRANSACTION_GAS } from '../json-rpc/rpc-budget.ts'
import { OVERTAKEN, type RpcCall, type RpcClient, RpcError } from '../json-rpc/rpc-client.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'
import { Allowance, tooLong } from './allowance.ts'
import { cappedParams, isCapped, isFields, type Params, withFees } from './capped-params.ts'
import { type KnownBlocks, stateBlock } from './known-blocks.ts'
import { isLong, isSlow } from './rpc-methods.ts'

/**
 * How reads are asked: all at once, in exchanges of their own, so that only few execute at a time, or, of old states,
 * one by one and not while a block is mined.
 */
type Way = 'together' | 'apart' | 'slow' | 'old'

/**
 * Calls of others that the node executes at a time. Blocks wait for those that have begun, and no call can be taken back
 * from the node: given up, it goes on until its gas is used up.
 */
const EXECUTING = 2
/** … of a fork: most of their time, they wait for the real chain. */
const EXECUTING_ON_FORK = 8
/**
 * Reads of an earlier block's state at a time. The node locks its old states for each. Whoever else needs one then, or adds
 * one since a block is mined, blocks a thread, maybe the one that would receive what the first is fetching: for ever.
 */
const OF_OLD_STATES = 1
/** Reads in one round trip. */
const TOGETHER = 100
/** … and at once in round trips of their own. */
const APART = 16

/** What the node adds gas and fees to, if it has none. */
const FILLED = /^eth_(fill|sign)Transaction$/

/** Every answer of Anvil's begins so. */
const HEAD = '{"jsonrpc":"2.0","id":0,'
const HEAD_OF_ERROR = `${HEAD}"error":`

/** Anvil suggests a gwei, whatever the fees are: a tip above the cap that clients derive from a base fee of nothing. */
const TIP = 'eth_maxPriorityFeePerGas'

/**
 * Carries out reads of others within their budget, each for itself: none may fail another one, or keep the node from blocks
 * for long. What Anvil has forgotten comes from the archive.
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
   * Answers, or says of each why not; nothing to notifications. The patience is what is left for the first of them, by then.
   * Throws ChainUnavailableError.
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
   * A transaction's parameters with its fees, which are nothing, and its gas: as it is estimated, or else the most it may have.
   * Without these, the node would offer a tip, and try as much gas as a block holds, again and again.
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

  /** In one round trip; one by one if that is too much for one answer, or the node does not understand one of them. */
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

  /** Whoever asked waits no longer than the patience lasts; the node goes on. */
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

  /** What is no request at all goes with any. */
  #wayOf(request: unknown): Way {
    if (!isRequest(request)) return 'apart'
    const { method } = request
    const params = request.params ?? []
    if (this.#deps.blocks.readsKept(method, params)) return 'old'
    if (isSlow(method, params)) return 'slow'
    // What is sent together is sent as it was given.
    const rewritten = method === TIP || isCapped(method) || FILLED.test(method)
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
    if (!release) return '' // nobody waits any more
    const execute = () => {
      const end = this.#deps.fetches.begin(patience)
      return ask().finally(end)
    }
    return (way === 'old' ? this.#betweenRounds(execute, patience) : execute()).finally(release)
  }

  /** Blocks wait for one such read at most: the next one has its turn after theirs. */
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
    this.#filters.touch(subject)
    const text = await rpc.relay(bodyOf(0, method, params), allowance.bytes)
    // Another block was mined, and the node keeps the state of the last one alone, or of so many.
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

/** Anvil's answer with the id of whoever asked, without reading the rest, which may be long. */
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
  blocks: Pick<KnownBlocks, 'readsKept' | 'refuseForgotten' | 'forgotten'>
  producer: Pick<BlockProducer, 'exclusive'>
}

/**
 * Looks how much work a trace of a mined transaction, or of a block, would be. Throws RpcError if it is too much: the node
 * could not be kept from it, and would do nothing else meanwhile.
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
 * The filters that others have in the node, and when each was last asked: the node takes any number, and each fills up with
 * whatever happens until somebody asks.
 */
class RpcFilters {
  readonly #clock: SandboxClock
  /** By id, the one that was not asked for longest first: when it was asked, in milliseconds of real time. */
  readonly #asked = new Map<unknown, number>()

  constructor(clock: SandboxClock) {
    this.#clock = clock
  }

  /** Call when a filter was made. */
  add(id: unknown): void {
    this.#asked.set(id, this.#clock.wallNow())
  }

  /** Call when somebody asked a filter. */
  touch(id: unknown): void {
    if (this.#asked.delete(id)) this.add(id)
  }

  /** Forgets those that are to be removed now: nobody asked them for long, or there are too many. */
  takeStale(): unknown[] {
    const latest = this.#clock.wallNow() - FILTER_LIFE
    const stale = [...this.#asked].filter(([, asked], index) => asked < latest || this.#asked.size - index > FILTERS)
    for (const [id] of stale) this.#asked.delete(id)
    return stale.map(([id]) => id)
  }
}
