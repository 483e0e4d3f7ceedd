import type { SandboxClock } from '../../domain/clock.ts'
import { oneLine } from '../../support/foreign-text.ts'
import { readBody } from '../../support/read-body.ts'
import { abortController } from '../../support/waiting.ts'

/** Error codes by which nodes report a rate limit in JSON-RPC, beside HTTP's status 429. */
const LIMIT_CODES: ReadonlySet<unknown> = new Set([429, -32005, -32016])
/** Pauses in milliseconds before each retry when the rate is limited; after the last one it counts as a failure. */
const RATE_LIMIT_PAUSES_MS = [250, 750]
/** Limit of an answer in bytes: more than a node answers to any one call. */
const MAX_BYTES = 64 * 1024 * 1024

/** An upstream did not answer as a node does. The message contains only the host of its URL. */
export class UpstreamError extends Error {
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
export class Upstream {
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
