import { constants } from 'node:buffer'
import { ChainUnavailableError, ChainUnsoundError } from '../../domain/ports/chain.ts'
import { BodyTooLargeError } from '../../support/read-body.ts'
import { HttpConnections, type RpcExchange } from './http-connections.ts'

/** A JSON-RPC call: method and parameters. */
export type RpcCall = readonly [method: string, ...params: unknown[]]

/** The node answered a call with an error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor(
    readonly method: string,
    readonly code: number,
    readonly reason: string,
    readonly data?: unknown,
  ) {
    super(`${method}: ${reason}`)
  }
}

interface Answer {
  id: number
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** Options of an {@link RpcClient}. */
export interface RpcOptions {
  chainId: string
  /** URL of the node; can be set later by {@link RpcClient.moveTo}. */
  url?: string
  /** Milliseconds without a byte before a call is given up; default 10 s. */
  timeout?: number
  /** Health of the upstream that the node of a fork depends on. */
  upstream?: { readonly failures: number; readonly failure: string | undefined }
}

/** Anvil's error for a block whose state it does not keep; also for the latest one if another block is mined meanwhile. */
export const OVERTAKEN = 'BlockOutOfRangeError'
/** Number of retries of a relayed call after {@link OVERTAKEN}: it may name an old block, and then retries are useless. */
const RELAYED_AGAIN = 3
/** Limit in bytes of an answer to the sandbox itself: the longest possible string, since the dump of a large chain may be long. */
const MAX_BYTES = constants.MAX_STRING_LENGTH
/** Error code of a call that reverted, which is a valid answer, not a failure. */
const REVERTED = 3

/**
 * JSON-RPC over kept-alive HTTP connections. If the node does not answer, it throws a {@link ChainUnavailableError}; if the node answers
 * with an error, an {@link RpcError}.
 */
export class RpcClient {
  /** The present node. An exchange with an earlier one says nothing about it, whenever that fails. */
  #node: NodeSeen
  #holds: { reason: string }[] = []
  readonly #underWay = new Set<RpcExchange>()
  readonly #options: RpcOptions & { timeout: number }
  #ids = 0

  constructor(options: RpcOptions) {
    this.#options = { timeout: 10_000, ...options }
    this.#node = this.#seen(options.url ?? '')
  }

  /** Reason why the last exchange failed, or why calls are on hold; undefined while the node answers. */
  get failure(): string | undefined {
    return this.held ?? this.#options.upstream?.failure ?? this.#node.failure
  }

  /** Number of failures of the upstream so far. */
  get upstreamFailures(): number {
    return this.#options.upstream?.failures ?? 0
  }

  /** Reason why calls are on hold (see {@link hold}); undefined if they are not. */
  get held(): string | undefined {
    return this.#holds[0]?.reason
  }

  /** @returns true if the node owes no answer: none is under way, and each call so far was answered in full */
  get idle(): boolean {
    return this.#underWay.size === 0 && !this.#node.gaveUp
  }

  /**
   * Makes every call fail at once for this reason, running ones included.
   * @returns a function that ends the hold
   */
  hold(reason: string): () => void {
    const hold = { reason }
    this.#holds.push(hold)
    this.#abort(reason)
    return () => {
      this.#holds = this.#holds.filter((other) => other !== hold)
      this.#node.failure = undefined
    }
  }

  /** Sends further calls to another node. Resolves when all calls to the previous one have been answered or have failed. */
  async moveTo(url: string): Promise<void> {
    this.#retire()
    this.#node = this.#seen(url)
    await Promise.allSettled([...this.#underWay].map(({ answer }) => answer))
  }

  /** Makes one call. The caller names the result's type unchecked: the node is our own and has a pinned version. */
  async call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result> {
    const [result] = await this.settle([[method, ...params]])
    if (result instanceof RpcError) throw result
    return result as Result
  }

  /** Makes many calls in one round trip. Returns results or errors in the order of the calls. The node runs them concurrently. */
  async settle(calls: readonly RpcCall[]): Promise<(unknown | RpcError)[]> {
    if (calls.length === 0) return []
    const results = await this.#perform(calls)
    const overtaken = [...calls.keys()].filter((i) => isOvertaken(calls[i], results[i]))
    if (overtaken.length === 0) return results
    const again = await this.settle(overtaken.flatMap((i) => (calls[i] ? [calls[i]] : [])))
    for (const [at, i] of overtaken.entries()) results[i] = again[at]
    return results
  }

  /** As {@link settle}, but throws the first error. */
  async batch<Result = unknown>(calls: readonly RpcCall[]): Promise<Result[]> {
    const results = await this.settle(calls)
    for (const result of results) if (result instanceof RpcError) throw result
    return results as Result[]
  }

  /**
   * Passes JSON from outside on and returns the answer unparsed. Does not affect {@link failure}. Throws
   * {@link BodyTooLargeError} as soon as more than `limit` bytes have come.
   */
  async relay(body: string, limit: number): Promise<string> {
    try {
      let text = await this.#exchange(body, 'relays', limit)
      for (let again = 0; again < RELAYED_AGAIN && text.includes(OVERTAKEN); again++) {
        text = await this.#exchange(body, 'relays', limit)
      }
      return text
    } catch (error) {
      if (error instanceof ChainUnavailableError || error instanceof BodyTooLargeError) throw error
      throw new ChainUnavailableError(this.#options.chainId, reasonOf(error), { cause: error })
    }
  }

  /** Closes the connections; running calls fail, those to earlier nodes as well. */
  close(): void {
    this.#abort('the connection was closed')
    this.#retire()
  }

  #retire(): void {
    this.#node.own.retire()
    this.#node.relays.retire()
  }

  #abort(reason: string): void {
    for (const exchange of this.#underWay) exchange.abort(new Error(reason))
  }

  async #perform(calls: readonly RpcCall[]): Promise<(unknown | RpcError)[]> {
    const first = this.#ids + 1
    const before = this.upstreamFailures
    const envelopes = calls.map((call) => this.#envelope(call))
    const answers = await this.#ask(JSON.stringify(envelopes.length === 1 ? envelopes[0] : envelopes))
    const list = (Array.isArray(answers) ? answers : [answers]) as Answer[]
    if (list.length !== calls.length) throw this.#fail('a batch was not answered in full')
    const results: (unknown | RpcError)[] = new Array(calls.length)
    for (const answer of list) {
      const method = calls[answer.id - first]?.[0] ?? 'unknown'
      results[answer.id - first] = answer.error ? this.#errorOf(method, answer.error, before) : answer.result
    }
    return results
  }

  #envelope([method, ...params]: RpcCall): object {
    return { jsonrpc: '2.0', id: ++this.#ids, method, params }
  }

  async #ask(body: string): Promise<unknown> {
    const node = this.#node
    try {
      const answer: unknown = JSON.parse(await this.#exchange(body, 'own', MAX_BYTES))
      node.failure = undefined
      return answer
    } catch (error) {
      if (error instanceof ChainUnavailableError) throw error
      throw this.#fail(error instanceof SyntaxError ? 'its answer is no JSON' : reasonOf(error), node, error)
    }
  }

  /** Makes an RpcError. Throws {@link ChainUnavailableError} if a fork's upstream failed: the node's error is then a consequence. */
  #errorOf(method: string, { code, message, data }: NonNullable<Answer['error']>, failuresBefore: number): RpcError {
    if (code !== REVERTED && this.upstreamFailures > failuresBefore) throw this.unavailable()
    return new RpcError(method, code, message, data)
  }

  /** Makes the error to throw when the node has not answered within `patience` milliseconds, and notes the failure. */
  late(patience: number): ChainUnavailableError {
    return this.#fail(`no answer within ${patience} ms`)
  }

  /** Makes the error to throw when the node cannot work because of its upstream. */
  unavailable(): ChainUnavailableError {
    const reason = this.#options.upstream?.failure ?? 'state that it needs could not be fetched'
    return new ChainUnavailableError(this.#options.chainId, reason)
  }

  #fail(reason: string, node = this.#node, cause?: unknown): ChainUnavailableError {
    if (this.held === undefined) node.failure = reason
    return new ChainUnavailableError(this.#options.chainId, reason, { cause })
  }

  /** Makes one exchange over HTTP. Throws {@link BodyTooLargeError}, and the error that prevented an answer. */
  async #exchange(body: string, connections: 'own' | 'relays', limit: number): Promise<string> {
    this.#refuseIfHeld()
    const node = this.#node
    let exchange: RpcExchange | undefined
    try {
      exchange = node[connections].post(body, limit)
      this.#underWay.add(exchange)
      return await exchange.answer
    } catch (error) {
      node.gaveUp = true
      this.#refuseIfHeld() // the hold is why it failed
      throw error
    } finally {
      if (exchange) this.#underWay.delete(exchange)
    }
  }

  #refuseIfHeld(): void {
    if (this.held !== undefined) throw new ChainUnavailableError(this.#options.chainId, this.held)
  }

  #seen(url: string): NodeSeen {
    const options = { url, timeout: this.#options.timeout }
    const [own, relays] = [new HttpConnections(options), new HttpConnections(options)]
    return { own, relays, failure: undefined, gaveUp: false }
  }
}

/** A node, as the client has found it. */
interface NodeSeen {
  /** Connections for calls of our own. */
  own: HttpConnections
  /** Separate connections for relayed calls: slow ones may occupy all of them. */
  relays: HttpConnections
  /** Reason why the last exchange with it failed; undefined if it did not. */
  failure: string | undefined
  /** True if a call was given up or cut off: the node may still carry it out. */
  gaveUp: boolean
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** @returns true if a block was mined while a call read the latest one, and Anvil did not keep the state of the latter */
function isOvertaken(call: RpcCall | undefined, result: unknown): boolean {
  if (!(result instanceof RpcError) || !result.message.includes(OVERTAKEN)) return false
  return call?.includes('latest') ?? false
}

/** The node's answer is invalid: the contracts or accounts are not as they should be. */
export class SenselessAnswerError extends Error {
  override readonly name = 'SenselessAnswerError'
}

/** Makes a ChainUnsoundError of an error that only a change of the chain from outside can cause; returns any other error unchanged. */
export function unsound(chainId: string, error: unknown): unknown {
  if (!(error instanceof SenselessAnswerError || error instanceof RpcError)) return error
  return new ChainUnsoundError(chainId, error.message, { cause: error })
}

/** Runs a task and returns its result. Converts errors by {@link unsound}. */
export async function soundly<Result>(chainId: string, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task()
  } catch (error) {
    throw unsound(chainId, error)
  }
}
