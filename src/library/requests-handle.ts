import type { ControlClient } from '../control/client.ts'
import type {
  ExchangeFilter,
  ExchangePage,
  ExchangeQuery,
  ExplainedExchange,
  Har,
  NextExchangeQuery,
  RecordedExchange,
} from '../control/contract.ts'
import { ControlError } from '../control/control-error.ts'
import { SandboxClock } from '../domain/clock.ts'
import { OptionError, refuseUnknownNames } from '../option-error.ts'
import { UnreadableTextError } from '../support/issue.ts'
import { durationInWords, parseDuration } from '../support/quantities.ts'
import { FILTERS } from '../traffic/page-exchanges.ts'

/** A filter of {@link RequestsHandle.next}, and how long it waits. */
export interface NextWish extends Omit<NextExchangeQuery, 'after'> {
  /** Duration of real time, `10s`, or milliseconds. Default: 4 s, less than Vitest and Jest give a test. */
  timeout?: string | number
  /** The exchange, or the id of its request, after whose end to look. Default: all that this handle has not given yet. */
  after?: string | { request_id: string } | null
}

/** Recorded requests of clients, and their outcome. */
export interface RequestsHandle {
  /**
   * The newest first, 25 unless `limit` says otherwise; pass `next_cursor` as `starting_after` for the next page.
   * @example
   * const { data } = await sandbox.requests.list({ operation: 'deposit', status: '4xx' })
   */
  list(query?: ExchangeQuery): Promise<ExchangePage>
  /**
   * Resolves with the next request that has ended, so that no test has to sleep: at once with the earliest one that matches, has ended
   * since the handle was made, and that no call of the handle has given yet; else as soon as one ends. Each call gives another one, also
   * when several wait at once. Rejects with ControlError `no_such_request` after `timeout`, and says what came instead.
   * @example
   * await sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
   * void app.deposit()
   * const first = await sandbox.requests.next({ operation: 'deposit' })
   * const retry = await sandbox.requests.next({ operation: 'deposit' })
   * expect(retry.idempotency?.key).toBe(first.idempotency?.key)
   */
  next(wish?: NextWish): Promise<RecordedExchange>
  /** The newest that matches, which may still be open; null if there is none. */
  latest(filter?: ExchangeFilter): Promise<RecordedExchange | null>
  /**
   * One request, with an explanation in sentences.
   * @example
   * console.log((await sandbox.requests.get(response.headers.get('x-service-request-id')!)).explanation.join('\n'))
   */
  get(requestId: string): Promise<ExplainedExchange>
  /** All that match, as an HTTP Archive (HAR 1.2), oldest first: for a browser's developer tools. */
  har(filter?: ExchangeFilter): Promise<Har>
  /** Forgets all recorded requests. */
  clear(): Promise<void>
}

/** The requests that the sandbox behind a client has recorded. `begin`: the place from which on `next` looks; default: the first one. */
export function requestsOf(client: ControlClient, begin?: string): RequestsHandle {
  const ends = new NextRequests(client, begin)
  return {
    list: async (query = {}) => {
      refuseUnknownNames(query, { ...FILTERS, limit: true, starting_after: true }, 'requests.list')
      return client.requests(query)
    },
    next: async (wish = {}) => {
      refuseUnknownNames(wish, { ...FILTERS, timeout: true, after: true }, 'requests.next')
      return ends.next(wish)
    },
    latest: async (filter = {}) => {
      refuseUnknownNames(filter, FILTERS, 'requests.latest')
      return (await client.requests({ ...filter, limit: 1 })).data[0] ?? null
    },
    get: (requestId) => client.request(requestId),
    har: async (filter = {}) => {
      refuseUnknownNames(filter, FILTERS, 'requests.har')
      return client.har(filter)
    },
    clear: () => client.clearRequests(),
  }
}

const DEFAULT_TIMEOUT_MS = 4_000
/** Milliseconds that one request to the sandbox waits: some proxies end what is silent for longer. */
const MAX_WAIT_MS = 20_000
/** Number of requests that the error of a wait in vain names. */
const SHOWN = 5

/** Gives each exchange that ends once. */
class NextRequests {
  readonly #client: ControlClient
  readonly #begin: string | undefined
  readonly #given = new Set<string>()
  /** By filter: all matching exchanges that ended before this place were given. */
  readonly #places = new Map<string, string>()
  readonly #clock = new SandboxClock()

  constructor(client: ControlClient, begin: string | undefined) {
    this.#client = client
    this.#begin = begin
  }

  async next({ timeout = DEFAULT_TIMEOUT_MS, after, ...filter }: NextWish): Promise<RecordedExchange> {
    const deadline = this.#clock.wallNow() + millisecondsOf(timeout)
    const by = JSON.stringify(Object.entries(filter).sort())
    const chosen = after == null ? undefined : typeof after === 'string' ? after : after.request_id
    let from = chosen ?? this.#places.get(by) ?? this.#begin
    for (;;) {
      const left = Math.max(0, deadline - this.#clock.wallNow())
      const wait_ms = Math.min(Math.ceil(left), MAX_WAIT_MS)
      const { data, place } = await this.#client.nextRequest({ ...filter, ...(from && { after: from }), wait_ms })
      from = place
      if (chosen === undefined) this.#places.set(by, place)
      if (data && (chosen !== undefined || !this.#given.has(data.request_id))) {
        this.#given.add(data.request_id)
        return data
      }
      if (!data && left === 0) throw await this.#inVain(filter, timeout)
    }
  }

  /** The error of a wait in vain, which names what was seen instead. */
  async #inVain(filter: Omit<NextWish, 'timeout' | 'after'>, timeout: string | number): Promise<ControlError> {
    const { data, has_more } = await this.#client.requests({ limit: SHOWN })
    const parts = Object.entries(filter).map(([name, value]) => `${name} ${value}`)
    const wanted = parts.length > 0 ? `request (${parts.join(', ')})` : 'request'
    const span = durationInWords(millisecondsOf(timeout))
    const seen = data.map(
      (exchange) => `  ${lineOf(exchange)}${this.#given.has(exchange.request_id) ? ', given before' : ''}`,
    )
    const instead =
      seen.length > 0
        ? ['The newest requests on record are:', ...seen, ...(has_more ? ['  … and earlier ones'] : [])]
        : ['No request has come at all: does the client use the base URL, client id and secret of this handle?']
    return new ControlError([`no further ${wanted} ended within ${span}.`, ...instead].join('\n'), {
      code: 'no_such_request',
    })
  }
}

/** Throws OptionError. */
function millisecondsOf(timeout: string | number): number {
  try {
    const milliseconds = typeof timeout === 'string' ? parseDuration(timeout) : timeout
    if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds
  } catch (error) {
    if (!(error instanceof UnreadableTextError)) throw error
  }
  throw new OptionError(`timeout must be a duration such as 10s, or milliseconds; got ${timeout}`)
}

/** An exchange in a line: `deposit of alice: 422 invalid_user_token (req_…)`. */
function lineOf({
  operation,
  request,
  external_id,
  end,
  response,
  refusal,
  took_ms,
  request_id,
}: RecordedExchange): string {
  const what = operation ?? `${request.method} ${request.path}`
  const who = external_id === null ? '' : ` of ${external_id}`
  const code = response?.code ?? refusal?.code
  const answer = end === 'answered' && response ? `${response.status}` : end
  const how = end === 'open' ? `still open after ${durationInWords(took_ms)}` : `${answer}${code ? ` ${code}` : ''}`
  return `${what}${who}: ${how} (${request_id})`
}
