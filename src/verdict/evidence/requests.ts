import { unquotedKey } from '../../domain/idempotency-key.ts'
import { canonicalJson, jsonObject } from '../../support/json.ts'
import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * @returns true if two requests have the same body, or none since they only read; undefined if that is unknown, since one of the bodies is
 * not on record as a whole. Even then, different lengths may show that they differ.
 */
export function sameBody(one: RecordedExchange, other: RecordedExchange): boolean | undefined {
  const [a, b] = [one.request, other.request]
  if (a.method === 'GET' && b.method === 'GET') return true
  if (!isOnRecord(one) || !isOnRecord(other)) return differInLength(one, other) ? false : undefined
  if (a.body === b.body) return true
  const meant = canonical(a.body ?? '')
  return meant !== undefined && meant === canonical(b.body ?? '')
}

/** @returns true if the whole body is on record: a request that was refused or dropped before its body was read has none */
export function isOnRecord({ request: { body, body_cut } }: RecordedExchange): boolean {
  return body !== null && !body_cut
}

/** The JSON object of a whole body; an empty object if there is none. Fields that were not sent are undefined. */
export function parsedBody({ request: { body, body_cut } }: RecordedExchange): Record<string, unknown> {
  const read = body_cut ? undefined : jsonObject(body)
  return { __proto__: null, ...read }
}

/** A field of a JSON body; undefined without such a body or field. */
export function fieldOf(exchange: RecordedExchange, name: string): unknown {
  return parsedBody(exchange)[name]
}

function differInLength(one: RecordedExchange, other: RecordedExchange): boolean {
  const [a, b] = [lengthOf(one), lengthOf(other)]
  return a !== undefined && b !== undefined && a !== b
}

function lengthOf(exchange: RecordedExchange): number | undefined {
  const { headers, body_bytes } = exchange.request
  const header = headerOf(headers, 'content-length')
  if (header !== undefined) return Number(header)
  return isOnRecord(exchange) ? body_bytes : undefined
}

/** Undefined for text that is not JSON. */
function canonical(body: string): string | undefined {
  try {
    return canonicalJson(JSON.parse(body))
  } catch {
    return undefined
  }
}

/** The Idempotency-Key of a request, in the form of {@link unquotedKey}; null for none. */
export function idempotencyKeyOf({ idempotency, request }: RecordedExchange): string | null {
  const given = idempotency?.key ?? headerOf(request.headers, 'idempotency-key')
  return given === undefined ? null : unquotedKey(given)
}

/** A key that is the same for requests of the same client, end user, target and Idempotency-Key; the bodies are not compared. */
export function addressOf(exchange: RecordedExchange): string {
  const { tenant, external_id, operation, request } = exchange
  return JSON.stringify([
    tenant,
    external_id,
    operation,
    request.method,
    request.path,
    request.query,
    idempotencyKeyOf(exchange)?.toLowerCase(),
  ])
}
