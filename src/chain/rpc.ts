import { Agent, type ClientRequest, request } from 'node:http'
import { ChainUnavailableError } from '../domain/ports/chain.ts'

/** A JSON-RPC call: method and parameters. */
export type Call = readonly [method: string, ...params: unknown[]]

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

/** How a client reaches its node. */
export interface RpcOptions {
  chainId: string
  /** Where the node is; can be said later ({@link Rpc.moveTo}). */
  url?: string
  /** Milliseconds without a byte before a call is given up; default 10 s. */
  timeout?: number
  /** What the node itself depends on, if it is a fork. */
  upstream?: { readonly failures: number; readonly failure: string | undefined }
}

/** What Anvil says of a block whose state it does not keep: of the latest as well, if another one was mined meanwhile. */
const OVERTAKEN = 'BlockOutOfRangeError'
/** Others may ask for an old block: then asking again is of no use. */
const RELAYED_AGAIN = 3
/** The code of a call that reverted, which is an answer. */
const REVERTED = 3

/**
 * JSON-RPC over kept-alive HTTP connections (measured twice as fast as fetch). Whatever keeps the node from answering
 * becomes a {@link ChainUnavailableError}; an error it answers with becomes an {@link RpcError}.
 */
export class Rpc {
  #failure: string | undefined
  #holds: { reason: string }[] = []
  readonly #underWay = new Set<ClientRequest>()
  readonly #agent = new Agent({ keepAlive: true, noDelay: true, maxSockets: 32 })
  readonly #options: RpcOptions & { timeout: number }
  #url: string
  #ids = 0

  constructor(options: RpcOptions) {
    this.#options = { timeout: 10_000, ...options }
    this.#url = options.url ?? ''
  }

  /** Why the last exchange failed, or none is made; undefined while the node answers. */
  get failure(): string | undefined {
    return this.held ?? this.#options.upstream?.failure ?? this.#failure
  }

  /** How often what the node depends on has failed so far. */
  get upstreamFailures(): number {
    return this.#options.upstream?.failures ?? 0
  }

  /** Why no call is made at present: see {@link hold}. */
  get held(): string | undefined {
    return this.#holds[0]?.reason
  }

  /** From now on every call fails at once for this reason, those under way included. Returns what ends that. */
  hold(reason: string): () => void {
    const hold = { reason }
    this.#holds.push(hold)
    for (const outgoing of this.#underWay) outgoing.destroy(new Error(reason))
    return () => {
      this.#holds = this.#holds.filter((other) => other !== hold)
      this.#failure = undefined
    }
  }

  /** From now on the node is elsewhere. Resolves when the one before has answered all it was asked, or will not. */
  async moveTo(url: string): Promise<void> {
    this.#url = url
    this.#failure = undefined
    await Promise.all([...this.#underWay].map((outgoing) => new Promise((resolve) => outgoing.once('close', resolve))))
  }

  /** One call. The caller names the result's type: the node is ours and of a pinned version. */
  async call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result> {
    const [result] = await this.settle([[method, ...params]])
    if (result instanceof RpcError) throw result
    return result as Result
  }

  /** Many calls in one round trip, whose results (or errors) come in the order given. The node runs them concurrently. */
  async settle(calls: readonly Call[]): Promise<(unknown | RpcError)[]> {
    if (calls.length === 0) return []
    const results = await this.#exchange(calls)
    const overtaken = [...calls.keys()].filter((i) => isOvertaken(calls[i], results[i]))
    if (overtaken.length === 0) return results
    const again = await this.settle(overtaken.flatMap((i) => (calls[i] ? [calls[i]] : [])))
    for (const [at, i] of overtaken.entries()) results[i] = again[at]
    return results
  }

  /** As {@link settle}, but throws the first error. */
  async batch<Result = unknown>(calls: readonly Call[]): Promise<Result[]> {
    const results = await this.settle(calls)
    for (const result of results) if (result instanceof RpcError) throw result
    return results as Result[]
  }

  /** Passes JSON on and gives what came back, unread: text, empty if nothing is to be answered. */
  async relay(body: string): Promise<string> {
    let text = await this.#post(body)
    for (let again = 0; again < RELAYED_AGAIN && text.includes(OVERTAKEN); again++) text = await this.#post(body)
    return text
  }

  /** Ends the connections; calls under way fail. */
  close(): void {
    this.#agent.destroy()
  }

  async #exchange(calls: readonly Call[]): Promise<(unknown | RpcError)[]> {
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

  #envelope([method, ...params]: Call): object {
    return { jsonrpc: '2.0', id: ++this.#ids, method, params }
  }

  async #ask(body: string): Promise<unknown> {
    const text = await this.#post(body)
    try {
      return JSON.parse(text)
    } catch (error) {
      throw this.#fail('its answer is no JSON', error)
    }
  }

  #post(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string, cause?: unknown) => reject(this.#fail(reason, cause))
      if (this.held !== undefined) return fail(this.held)
      const { timeout } = this.#options
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const outgoing = request(this.#url, { method: 'POST', agent: this.#agent, headers, timeout }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', (error) => fail(error.message, error))
        incoming.on('end', () => {
          const { statusCode = 0 } = incoming
          if (statusCode >= 400) return fail(`it answered with status ${statusCode}`)
          this.#failure = undefined
          resolve(Buffer.concat(chunks).toString())
        })
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeout} ms`)))
      outgoing.on('error', (error) => fail(error.message, error))
      outgoing.on('close', () => this.#underWay.delete(outgoing))
      this.#underWay.add(outgoing)
      outgoing.end(body)
    })
  }

  /** A fork's node answers with an error of its own when its upstream fails. Throws {@link ChainUnavailableError} then. */
  #errorOf(method: string, { code, message, data }: NonNullable<Answer['error']>, failuresBefore: number): RpcError {
    if (code !== REVERTED && this.upstreamFailures > failuresBefore) throw this.unavailable()
    return new RpcError(method, code, message, data)
  }

  /** What to throw when the upstream keeps the node from its work. */
  unavailable(): ChainUnavailableError {
    const reason = this.#options.upstream?.failure ?? "the fork's upstream failed"
    return new ChainUnavailableError(this.#options.chainId, reason)
  }

  #fail(reason: string, cause?: unknown): ChainUnavailableError {
    if (this.held === undefined) this.#failure = reason
    return new ChainUnavailableError(this.#options.chainId, reason, { cause })
  }
}

/** A block was mined while a question about the latest one was read: Anvil keeps no state of the one before. */
function isOvertaken(call: Call | undefined, result: unknown): boolean {
  if (!(result instanceof RpcError) || !result.message.includes(OVERTAKEN)) return false
  return call?.includes('latest') ?? false
}
