import { numberToHex } from 'viem/utils'
import type { ChainSetup, ForkSetup } from '../../domain/chain-setup.ts'
import type { SandboxClock } from '../../domain/clock.ts'
import { ChainSetupError } from '../../domain/ports/chain.ts'
import type { Hex } from '../../domain/records.ts'
import { oneLine } from '../../support/foreign-text.ts'
import type { Logger } from '../../support/logger.ts'
import { readBody } from '../../support/read-body.ts'
import { abortController, allInOrder } from '../../support/waiting.ts'
import type { Checkpoint } from '../history/checkpoint.ts'
import type { Block } from '../json-rpc/block.ts'
import { faultText } from '../json-rpc/rpc-server.ts'
import type { RealCall } from './fetch-budget.ts'

/** A fork about to be made: its upstream has been checked for everything that Anvil will depend on. */
export interface Fork {
  relay: ForkRelay
  /** The first checkpoint: the forked block, without any change to the real chain's state. */
  origin: Checkpoint
}

/** Milliseconds until the upstream must have answered: less than the limit for Anvil, so that the upstream's error comes first. */
const UPSTREAM_TIMEOUT_MS = 8_000

/** @returns true if the chain is set up as a fork of a real one */
export function isFork(setup: ChainSetup): setup is ChainSetup & { fork: ForkSetup } {
  return setup.fork !== undefined
}

/** Checks the upstream of a fork and puts a relay before it. Throws {@link ChainSetupError}. */
export async function openFork(
  setup: ChainSetup & { fork: ForkSetup },
  { clock, log, timeout = UPSTREAM_TIMEOUT_MS }: { clock: SandboxClock; log: Logger; timeout?: number },
): Promise<Fork> {
  const upstream = new Upstream(setup.fork.url, timeout, clock)
  try {
    await checkChainId(setup, upstream)
    const block = await findBlock(setup, upstream)
    await checkCode(setup, upstream, block.number)
    const relay = new ForkRelay({ chainId: setup.chain_id, upstream, clock, log })
    return { relay, origin: { block, accounts: '{}', forked: Number(block.number) } }
  } catch (error) {
    upstream.close()
    throw error instanceof UpstreamError ? unusable(setup.fork, error.message, error) : error
  }
}

/** Makes a kept fork go on from the block where it was forked. Throws {@link ChainSetupError} if the setup names another block. */
export function atKeptBlock<Setup extends ChainSetup & { fork: ForkSetup }>(setup: Setup, kept?: number): Setup {
  const { fork, chain_id } = setup
  if (kept === undefined) return setup
  if (fork.block_number !== undefined && fork.block_number !== kept) {
    const message = `chain ${chain_id} of the data directory was forked at block ${kept}, not ${fork.block_number}`
    throw new ChainSetupError(fork.origin, message, `leave the block out, give ${kept}, or use another data directory`)
  }
  return { ...setup, fork: { ...fork, block_number: kept } }
}

/** Makes the error for an upstream that fails while a fork is being made. */
export function unusable({ origin }: ForkSetup, reason: string, cause: unknown): ChainSetupError {
  const limited = cause instanceof UpstreamError ? cause.kind === 'limited' : /limits the rate/.test(reason)
  const fix = limited
    ? 'wait, or use an RPC URL with a higher limit (--fork-url)'
    : 'check that it is the RPC URL of a node that is up, or give another one (--fork-url)'
  return new ChainSetupError(origin, reason, fix, cause)
}

async function checkChainId({ chain_id, fork }: ChainSetup & { fork: ForkSetup }, upstream: Upstream): Promise<void> {
  const id = await upstream.call<unknown>('eth_chainId')
  const found = typeof id === 'string' && /^0x[0-9a-f]+$/i.test(id) ? BigInt(id).toString() : undefined
  if (found === undefined) throw new UpstreamError(`${upstream.host} tells no chain id: it is no Ethereum node`)
  if (found === chain_id) return
  const message = `${upstream.host} is chain ${found}, not ${chain_id}`
  throw new ChainSetupError(fork.origin, message, `give the RPC URL of chain ${chain_id}, or change chain_id`)
}

/** Fetches the block to fork at: the block of the setup, or the latest one. Throws {@link ChainSetupError} if it does not exist. */
async function findBlock({ fork }: ChainSetup & { fork: ForkSetup }, upstream: Upstream): Promise<Block> {
  const wanted = fork.block_number
  const tag = wanted === undefined ? 'latest' : numberToHex(wanted)
  const block = await upstream.call<Block | null>('eth_getBlockByNumber', tag, false)
  if (block) return block
  const latest = Number(await upstream.call<Hex>('eth_blockNumber'))
  const message = `${upstream.host} has no block ${wanted}; its latest is ${latest}`
  throw new ChainSetupError(fork.origin, message, 'choose an earlier fork_block_number, or leave it out for the latest')
}

/** Throws {@link ChainSetupError} if a contract of a market does not exist, or the upstream has pruned the block's state. */
async function checkCode(setup: ChainSetup & { fork: ForkSetup }, upstream: Upstream, block: Hex): Promise<void> {
  const { fork, markets = [] } = setup
  const addresses = new Map(
    markets.flatMap(({ pool, origin }) => [
      [pool.token_address, { what: 'token_address', origin }],
      [pool.market_address, { what: 'market_address', origin }],
    ]),
  )
  await allInOrder(
    [...addresses].map(async ([address, { what, origin }]) => {
      const code = await codeAt(address, block, fork, upstream)
      if (code !== '0x') return
      const message = `the ${what} ${address} has no code on chain ${setup.chain_id} at block ${Number(block)}`
      throw new ChainSetupError(origin, message, 'check the address, the chain and the block')
    }),
  )
}

async function codeAt(address: Hex, block: Hex, fork: ForkSetup, upstream: Upstream): Promise<Hex> {
  try {
    return await upstream.call<Hex>('eth_getCode', address, block)
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.kind !== 'refused') throw error
    const message = `${upstream.host} has no state of block ${Number(block)} (${error.message})`
    throw new ChainSetupError(
      fork.origin,
      message,
      'use an archive node, or a recent fork_block_number, or leave it out',
    )
  }
}

/** Milliseconds between two probes of an upstream that failed. */
const PROBE_INTERVAL_MS = 500
/** A JSON-RPC error code after which Anvil does not retry. */
const FAILED = -32000
/** A call that every running node answers. */
const SIMPLE: RealCall = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }

/**
 * Relays calls from an Anvil to the upstream of its fork. So the URL, whose path may be a key, does not appear in the process
 * list or in Anvil's messages, and the exact error of the upstream is known here.
 */
class ForkRelay {
  /** Number of calls that have failed so far because of the upstream. */
  failures = 0
  readonly #deps: RelayDeps
  #failure: string | undefined
  #closed = false

  constructor(deps: RelayDeps) {
    this.#deps = deps
  }

  /** Reason why the upstream cannot be read; undefined while no failure is known. */
  get failure(): string | undefined {
    return this.#failure
  }

  close(): void {
    this.#closed = true
    this.#deps.upstream.close()
  }

  /**
   * Passes a call on. If the upstream fails, the answer is a JSON-RPC error with the reason. An error in the upstream's answer is
   * passed on as well; if the call is needed, that also counts as a failure: a node without the forked state is of no more use
   * than one that is down.
   */
  async forward(call: RealCall, needed: boolean): Promise<string> {
    // While the upstream fails, only the probe asks it: callers get the error at once instead of after a time-out.
    if (this.#failure !== undefined) {
      this.failures++
      return faultText(call, { code: FAILED, message: this.#failure })
    }
    try {
      const { upstream } = this.#deps
      const answer = await upstream.post(JSON.stringify(call))
      if (needed) upstream.requireResult(call.method, answer)
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      this.#failed(error.message, needed ? call : SIMPLE)
      return faultText(call, { code: FAILED, message: error.message })
    }
  }

  /** Notes a failure. It ends as soon as the upstream answers `missed`. */
  #failed(reason: string, missed: RealCall): void {
    this.failures++
    const known = this.#failure
    this.#failure = failureOf(reason)
    if (known !== undefined || this.#closed) return
    this.#deps.log.warn({ chain_id: this.#deps.chainId, reason }, 'the upstream of a fork fails')
    void this.#probe(missed)
  }

  async #probe(missed: RealCall): Promise<void> {
    const { chainId, clock, log, upstream } = this.#deps
    for (;;) {
      await clock.wallSleep(PROBE_INTERVAL_MS)
      if (this.#closed) return
      try {
        upstream.requireResult(missed.method, await upstream.postOnce(JSON.stringify(missed)))
        this.#failure = undefined
        return log.info({ chain_id: chainId }, 'the upstream of a fork answers again')
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        this.#failure = failureOf(error.message)
      }
    }
  }
}

function failureOf(reason: string): string {
  return `the fork's upstream ${reason}`
}

/** Dependencies of a relay. */
interface RelayDeps {
  chainId: string
  upstream: Upstream
  clock: SandboxClock
  log: Logger
}

/** Error codes by which nodes report a rate limit in JSON-RPC, beside HTTP's status 429. */
const LIMIT_CODES: ReadonlySet<unknown> = new Set([429, -32005, -32016])
/** Pauses in milliseconds before each retry when the rate is limited; after the last one it counts as a failure. */
const RATE_LIMIT_PAUSES_MS = [250, 750]
/** Limit of an answer in bytes: more than a node answers to any one call. */
const MAX_BYTES = 64 * 1024 * 1024

/** An upstream did not answer as a node does. The message contains only the host of its URL. */
class UpstreamError extends Error {
  override readonly name = 'UpstreamError'

  constructor(
    reason: string,
    /** `refused`: it answered a call with an error; `limited`: it limits the rate and may answer later. */
    readonly kind: 'failed' | 'refused' | 'limited' = 'failed',
  ) {
    super(reason)
  }
}

/** The node of a real chain that a fork reads from. */
class Upstream {
  readonly #url: string
  readonly #headers: Record<string, string> = { 'content-type': 'application/json' }
  readonly #timeout: number
  readonly #clock: SandboxClock
  readonly #closed = abortController()

  /** @param timeout milliseconds until an answer must be complete */
  constructor(url: string, timeout: number, clock: SandboxClock) {
    this.#clock = clock
    const parsed = new URL(url)
    if (parsed.username || parsed.password) {
      // fetch refuses credentials in the URL.
      const credentials = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
      this.#headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
      parsed.username = ''
      parsed.password = ''
    }
    this.#url = parsed.href
    this.host = parsed.host
    this.#timeout = timeout
  }

  /** The only part of the URL that may be shown: the rest may be a key. */
  readonly host: string

  /** Makes one call and returns its result. Throws {@link UpstreamError}. */
  async call<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const body = await this.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const answer = JSON.parse(body) as { result?: Result; error?: { message?: string } }
    if (answer.error) throw this.#refused(method, answer.error.message)
    return answer.result as Result
  }

  /** Throws {@link UpstreamError} if the answer `text` has no result; for methods that always have one. */
  requireResult(method: string, text: string): void {
    const { result, error } = Object(parsed(text)) as Parsed
    if (error) throw this.#refused(method, error.message)
    if ((result ?? null) === null) throw this.#refused(method, 'no result')
  }

  /** Sends a request and returns the answer, which is valid JSON. Retries while the rate is limited. Throws {@link UpstreamError}. */
  async post(body: string): Promise<string> {
    for (const pause of RATE_LIMIT_PAUSES_MS) {
      try {
        return await this.postOnce(body)
      } catch (error) {
        if (!(error instanceof UpstreamError) || error.kind !== 'limited') throw error
        await this.#clock.wallSleep(pause)
      }
    }
    return this.postOnce(body)
  }

  /** As {@link post}, but without retries. */
  async postOnce(body: string): Promise<string> {
    let response: Response
    let text: string
    try {
      const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#timeout)])
      response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body, redirect: 'error', signal })
      text = await readBody(response.body, MAX_BYTES)
    } catch (error) {
      throw new UpstreamError(`${this.host} does not answer: ${this.#redact(reasonOf(error, this.#timeout))}`)
    }
    return this.#checked(response, text)
  }

  /** Makes running calls fail. */
  close(): void {
    this.#closed.abort()
  }

  #refused(method: string, message: unknown): UpstreamError {
    return new UpstreamError(`${this.host} refuses ${method}: ${this.#redact(String(message))}`, 'refused')
  }

  #checked({ status, headers }: Response, text: string): string {
    const answer = parsed(text)
    if (status === 429 || LIMIT_CODES.has(answer?.error?.code)) {
      throw new UpstreamError(`${this.host} limits the rate of requests (status ${status})`, 'limited')
    }
    if (answer) {
      if (answer.jsonrpc !== undefined || status === 200) return text
      throw new UpstreamError(`${this.host} answers with status ${status}`)
    }
    const what = /html/i.test(headers.get('content-type') ?? '') || /^\s*</.test(text) ? 'HTML' : 'no JSON'
    throw new UpstreamError(`${this.host} answers ${what} with status ${status}, not JSON-RPC`)
  }

  /** Removes the URL from a message: a node may quote the URL it was called by. */
  #redact(text: string): string {
    const { pathname, search } = new URL(this.#url)
    const clean = [this.#url, `${pathname}${search}`, pathname, search.slice(1)]
      .filter((part) => part.length > 1)
      .reduce((rest, part) => rest.replaceAll(part, '…'), text)
    return oneLine(clean, 300)
  }
}

interface Parsed {
  jsonrpc?: unknown
  result?: unknown
  error?: { code?: unknown; message?: unknown }
}

function parsed(text: string): Parsed | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}

/** Finds the reason of a failed fetch. Its message is only "fetch failed"; the cause says why, for several addresses only by its code. */
function reasonOf(error: unknown, timeout: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${timeout} ms`
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}
