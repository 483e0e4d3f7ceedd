import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../domain/ports/logger.ts'
import { faultText } from './json-rpc.ts'
import { type Upstream, UpstreamError } from './upstream.ts'

/** Milliseconds between looks for an upstream that failed. */
const PROBE_PAUSE = 500
/** A JSON-RPC error code Anvil gives up on at once. */
const FAILED = -32000

/** What a relay is made from. */
export interface RelayParts {
  chainId: string
  upstream: Upstream
  clock: SandboxClock
  log: Logger
}

/**
 * Stands between an Anvil and the upstream of its fork: so the URL, whose path may be a key, is in no process list and in no
 * message of Anvil's, and whatever the upstream fails with is known here in so many words.
 */
export class ForkRelay {
  /** How often the upstream has failed so far. */
  failures = 0
  readonly #parts: RelayParts
  #failure: string | undefined
  #closed = false

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  /** Why the upstream cannot be read from; undefined as far as is known that it can. */
  get failure(): string | undefined {
    return this.#failure
  }

  close(): void {
    this.#closed = true
    this.#parts.upstream.close()
  }

  /** Passes a JSON-RPC body on; the answer says why, should the upstream fail. */
  async forward(body: string): Promise<string> {
    // Known to fail, it is asked by the probe alone: whoever waits learns so at once instead of after a time-out.
    if (this.#failure !== undefined) {
      this.failures++
      return refusal(body, this.#failure)
    }
    try {
      const answer = await this.#parts.upstream.post(body)
      this.#succeeded()
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      this.#failed(error.message)
      return refusal(body, error.message)
    }
  }

  #failed(reason: string): void {
    this.failures++
    const known = this.#failure
    this.#failure = `the fork's upstream ${reason}`
    if (known !== undefined || this.#closed) return
    this.#parts.log.warn({ chain_id: this.#parts.chainId, reason }, 'the upstream of a fork fails')
    void this.#probe()
  }

  #succeeded(): void {
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#parts.log.info({ chain_id: this.#parts.chainId }, 'the upstream of a fork answers again')
  }

  /** Finds out that it answers again, should nobody ask it for anything meanwhile. */
  async #probe(): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    while (this.#failure !== undefined && !this.#closed) {
      await this.#parts.clock.wallSleep(PROBE_PAUSE)
      if (this.#failure === undefined || this.#closed) return
      await this.#parts.upstream.postOnce(body).then(
        () => this.#succeeded(),
        () => undefined,
      )
    }
  }
}

function refusal(body: string, message: string): string {
  const request: unknown = JSON.parse(body)
  const fault = { code: FAILED, message }
  if (!Array.isArray(request)) return faultText(request, fault)
  return `[${request.map((call) => faultText(call, fault)).join()}]`
}
