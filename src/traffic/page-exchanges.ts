import { Problem } from '../domain/errors.ts'
import type { Operation } from '../domain/operations.ts'
import { inTurns } from '../support/breathe.ts'
import { decodeBase64 } from '../support/encodings.ts'
import type { ExchangeEnd, RecordedExchange } from './recorded-exchange.ts'

/** Read access to recorded exchanges, for those that show them. */
export interface RecordedExchanges {
  /** Number of exchanges. */
  readonly size: number
  /** Newest first, starting below the number `before`. */
  newestFirst(before?: number): Iterable<RecordedExchange>
  /** The exchanges of these numbers, as far as they are still here. */
  numbered(numbers: Iterable<number>): Iterable<RecordedExchange>
  /** The exchange of that request, if it is still here. */
  get(requestId: string): RecordedExchange | undefined
  /** Forgets all exchanges. */
  clear(): void
}

/** A filter and a page of its results. */
export interface ExchangeQuery extends ExchangeFilter {
  /** Maximum number of exchanges, 1 to 100. */
  limit?: number
  /** `next_cursor` of the page before. */
  starting_after?: string
}

/** Exchanges, newest first. */
export interface ExchangePage {
  data: RecordedExchange[]
  /** True if older exchanges match as well. */
  has_more: boolean
  /** Cursor of the next page; null on the last one. */
  next_cursor: string | null
}

/** Number of exchanges that are decoded before others have their turn: with the longest bodies, that takes some tens of milliseconds. */
export const SHOWN_AT_ONCE = 20

/** Marks a cursor of this list. */
const MARK = 'before '

/**
 * A page of the newest matching exchanges. A cursor names the last exchange of its page (keyset pagination), so pages stay stable while
 * new exchanges arrive. Throws Problem cursor_invalid, or cursor_expired when that exchange was forgotten.
 */
export async function pageExchanges(
  log: RecordedExchanges,
  { limit, starting_after, ...filter }: ExchangeQuery,
): Promise<ExchangePage> {
  const data: RecordedExchange[] = []
  for await (const exchange of inTurns(log.newestFirst(placeOf(starting_after, log)), SHOWN_AT_ONCE)) {
    if (!fits(exchange, filter)) continue
    if (data.length === limit) return { data, has_more: true, next_cursor: cursorOf(data.at(-1)) }
    data.push(exchange)
  }
  return { data, has_more: false, next_cursor: null }
}

/**
 * All matching exchanges, oldest first, each decoded in its turn: together they may be tens of megabytes. Those forgotten by then are
 * left out. Throws as {@link pageExchanges}.
 */
export async function exchangesInOrder(
  log: RecordedExchanges,
  { limit, starting_after, ...filter }: ExchangeQuery,
): Promise<AsyncIterable<RecordedExchange>> {
  const numbers: number[] = []
  for await (const exchange of inTurns(log.newestFirst(placeOf(starting_after, log)), SHOWN_AT_ONCE)) {
    if (numbers.length === limit) break
    if (fits(exchange, filter)) numbers.push(exchange.number)
  }
  return inTurns(log.numbered(numbers.reverse()), SHOWN_AT_ONCE)
}

function cursorOf(last: RecordedExchange | undefined): string | null {
  return last ? Buffer.from(`${MARK}${last.request_id}`).toString('base64url') : null
}

function placeOf(cursor: string | undefined, log: RecordedExchanges): number | undefined {
  if (cursor === undefined) return undefined
  const text = decodeBase64(cursor, 'base64url')?.toString() ?? ''
  if (!text.startsWith(MARK)) {
    const detail = 'starting_after is not a cursor of this list: pass next_cursor of an earlier page unchanged'
    throw new Problem('cursor_invalid', { detail, param: 'starting_after' })
  }
  const exchange = log.get(text.slice(MARK.length))
  if (exchange) return exchange.number
  const detail = `The exchange that starting_after points at was forgotten, and all before it: ${kept(log)}. Fetch the first page.`
  throw new Problem('cursor_expired', { detail, param: 'starting_after' })
}

/** Says how many exchanges there are, for errors about those that are gone. */
export function kept({ size }: RecordedExchanges): string {
  const these = size === 1 ? 'the newest one is kept' : `the newest ${size} are kept`
  return `${size === 0 ? 'none is kept' : these}; a reset forgets them, and so does DELETE requests`
}

/** The exchange that ran the operation whose outcome this one shared or got again; undefined if it is forgotten or was itself. */
export async function originalOf(
  exchange: RecordedExchange,
  log: RecordedExchanges,
): Promise<RecordedExchange | undefined> {
  const { idempotency } = exchange
  if (idempotency?.use !== 'joined' && idempotency?.use !== 'replayed') return undefined
  for await (const earlier of inTurns(log.newestFirst(exchange.number), SHOWN_AT_ONCE)) {
    if (earlier.idempotency?.use === 'first' && isSame(earlier, exchange)) return earlier
  }
  return undefined
}

/** @returns true if both name the same operation: a key belongs to one operation of one end user */
function isSame(a: RecordedExchange, b: RecordedExchange): boolean {
  return (
    a.idempotency?.key === b.idempotency?.key &&
    a.operation === b.operation &&
    a.tenant === b.tenant &&
    a.external_id === b.external_id
  )
}

/** A filter of exchanges: every given part must match. */
export interface ExchangeFilter {
  operation?: Operation
  /** Slug. */
  tenant?: string
  external_id?: string
  /** Status of the answer, or a class such as `4xx`. */
  status?: number | '1xx' | '2xx' | '3xx' | '4xx' | '5xx'
  /** The error code, also of an answer that never reached its client. */
  code?: string
  end?: ExchangeEnd
  /** Id of a rule that struck it (`header` for one that it brought along), or a kind of faults. */
  fault?: string
  idempotency_key?: string
  /** Ordinal of its connection. */
  connection?: number
}

/** For each part of a filter, whether an exchange fits it. */
export const FILTERS: Record<keyof ExchangeFilter, (exchange: RecordedExchange, filter: ExchangeFilter) => boolean> = {
  operation: (exchange, { operation }) => exchange.operation === operation,
  tenant: (exchange, { tenant }) => exchange.tenant === tenant,
  external_id: (exchange, { external_id }) => exchange.external_id === external_id,
  status: ({ end, response }, { status }) => end === 'answered' && response !== null && isOf(response.status, status),
  code: ({ response, refusal }, { code }) => response?.code === code || refusal?.code === code,
  end: (exchange, { end }) => exchange.end === end,
  fault: ({ faults }, { fault }) => faults.some(({ id, kind }) => id === fault || kind === fault),
  idempotency_key: ({ idempotency }, { idempotency_key }) => idempotency?.key === idempotency_key,
  connection: (exchange, { connection }) => exchange.connection === connection,
}

const PARTS = Object.keys(FILTERS) as (keyof ExchangeFilter)[]

/** @returns true if the exchange matches the filter */
export function fits(exchange: RecordedExchange, filter: ExchangeFilter): boolean {
  return PARTS.every((name) => filter[name] === undefined || FILTERS[name](exchange, filter))
}

function isOf(status: number, wanted: ExchangeFilter['status']): boolean {
  return typeof wanted === 'number' ? status === wanted : `${Math.floor(status / 100)}xx` === wanted
}
