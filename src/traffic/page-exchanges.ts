import { Problem } from '../domain/errors.ts'
import type { Operation } from '../domain/operations.ts'
import { inTurns } from '../support/breathe.ts'
import { decodeBase64 } from '../support/encodings.ts'
import type { ExchangeEnd, RecordedExchange } from './recorded-exchange.ts'

/** Exchanges that were recorded, as those need them who show them. */
export interface RecordedExchanges {
  /** How many are kept. */
  readonly size: number
  /** Newest first, beginning before the one of this number. */
  newestFirst(before?: number): Iterable<RecordedExchange>
  /** Those of these numbers, as far as they are kept. */
  numbered(numbers: Iterable<number>): Iterable<RecordedExchange>
  /** The exchange of that request, if it is kept. */
  get(requestId: string): RecordedExchange | undefined
  /** Forgets every one. */
  clear(): void
}

/** Which exchanges, and which part of them. */
export interface ExchangeQuery extends ExchangeFilter {
  /** At most so many, 1 to 100. */
  limit?: number
  /** `next_cursor` of the page before. */
  starting_after?: string
}

/** Exchanges, newest first. */
export interface ExchangePage {
  data: RecordedExchange[]
  /** True when older ones fit as well. */
  has_more: boolean
  /** Leads to them; null on the last page. */
  next_cursor: string | null
}

/** Exchanges that are looked at before others have their turn: with the longest bodies, that takes some tens of milliseconds. */
export const SHOWN_AT_ONCE = 20

/** Marks a cursor of this list. */
const MARK = 'before '

/**
 * The newest exchanges that fit. A cursor names the last exchange of its page, so pages stay as they are while new ones arrive.
 * Throws Problem cursor_invalid, or cursor_expired when that exchange was forgotten.
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
 * All that fit, oldest first, each made when its turn comes: together they may be tens of megabytes. What was forgotten by then is left
 * out. Throws as {@link pageExchanges}.
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

/** How many exchanges there are to be found, for errors about those that are not. */
export function kept({ size }: RecordedExchanges): string {
  const these = size === 1 ? 'the newest one is kept' : `the newest ${size} are kept`
  return `${size === 0 ? 'none is kept' : these}; a reset forgets them, and so does DELETE requests`
}

/** The exchange that ran the operation whose outcome this one shared or was given again; undefined when it is forgotten or was itself. */
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

/** A key belongs to one operation of one end user. */
function isSame(a: RecordedExchange, b: RecordedExchange): boolean {
  return (
    a.idempotency?.key === b.idempotency?.key &&
    a.operation === b.operation &&
    a.tenant === b.tenant &&
    a.external_id === b.external_id
  )
}

/** Which exchanges are meant: every part that is given must fit. */
export interface ExchangeFilter {
  operation?: Operation
  /** Slug. */
  tenant?: string
  external_id?: string
  /** What the client was answered: a status, or a class of them such as `4xx`. */
  status?: number | '1xx' | '2xx' | '3xx' | '4xx' | '5xx'
  /** The error code, also of an answer that never reached its client. */
  code?: string
  end?: ExchangeEnd
  /** Id of a rule that struck it (`header` for one that it brought along), or a kind of faults. */
  fault?: string
  idempotency_key?: string
  /** Ordinal of the connection it came on. */
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

/** @returns true if an exchange is one of those meant */
export function fits(exchange: RecordedExchange, filter: ExchangeFilter): boolean {
  return PARTS.every((name) => filter[name] === undefined || FILTERS[name](exchange, filter))
}

function isOf(status: number, wanted: ExchangeFilter['status']): boolean {
  return typeof wanted === 'number' ? status === wanted : `${Math.floor(status / 100)}xx` === wanted
}
