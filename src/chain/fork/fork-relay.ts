import type { SandboxClock } from '../../domain/clock.ts'
import type { Logger } from '../../support/logger.ts'
import { faultText } from '../json-rpc/json-rpc.ts'
import type { RealCall } from './fetch-budget.ts'
import { type Upstream, UpstreamError } from './upstream.ts'

/** Milliseconds between looks for an upstream that failed. */
const PROBE_INTERVAL_MS = 500
/** A JSON-RPC error code Anvil gives up on at once. */
const FAILED = -32000
/** What any node answers that is up. */
const SIMPLE: RealCall = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }

/**
 * Stands between an Anvil and the upstream of its fork: so the URL, whose path may be a key, is in no process list and in no
 * message of Anvil's, and whatever the upstream fails with is known here in so many words.
 */
export class ForkRelay {
  /** How often the upstream has failed so far. */
  failures = 0
  readonly #deps: RelayDeps
  #failure: string | undefined
  #closed = false

  constructor(deps: RelayDeps) {
    this.#deps = deps
  }

  /** Why the upstream cannot be read from; undefined as far as is known that it can. */
  get failure(): string | undefined {
    return this.#failure
  }

  close(): void {
    this.#closed = true
    this.#deps.upstream.close()
  }

  /**
   * Passes a call on; the answer says why, should the upstream fail. An error that it answers with is passed on as well, unless
   * the call is needed: a node that does not have the state that was forked is no better than one that is down.
   */
  async forward(call: RealCall, needed: boolean): Promise<string> {
    // Known to fail, it is asked by the probe alone: whoever waits learns so at once instead of after a time-out.
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

  /** It answers again as soon as it answers `missed`. */
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

/** What a relay is made from. */
export interface RelayDeps {
  chainId: string
  upstream: Upstream
  clock: SandboxClock
  log: Logger
}
