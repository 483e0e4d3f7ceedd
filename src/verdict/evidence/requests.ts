import { unquotedKey } from '../../domain/idempotency-key.ts'
import { canonicalJson, jsonObject } from '../../support/json.ts'
import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * @returns true if two requests had the same body, or have none as they only read; undefined when nobody can know, because one of the two is not on record, or only its
 * beginning is. Then their lengths may still show that they differ.
 */
export function sameBody(one: RecordedExchange, other: RecordedExchange): boolean | undefined {
  const [a, b] = [one.request, other.request]
  if (a.method === 'GET' && b.method === 'GET') return true
  if (!isOnRecord(one) || !isOnRecord(other)) return differInLength(one, other) ? false : undefined
  if (a.body === b.body) return true
  const meant = canonical(a.body ?? '')
  return meant !== undefined && meant === canonical(b.body ?? '')
}

/** @returns true if the whole body is on record: a request that was refused or dropped before its body was read has none. */
export function isOnRecord({ request: { body, body_cut } }: RecordedExchange): boolean {
  return body !== null && !body_cut
}

/** The object that a body is as JSON, all of it; an empty one when there is no such body. Fields that are not sent are undefined. */
export function parsedBody({ request: { body, body_cut } }: RecordedExchange): Record<string, unknown> {
  const read = body_cut ? undefined : jsonObject(body)
  return { __proto__: null, ...read }
}

/** A field of a JSON body; undefined when there is no such body or field. */
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

/** Undefined for what is no JSON. */
function canonical(body: string): string | undefined {
  try {
    return canonicalJson(JSON.parse(body))
  } catch {
    return undefined
  }
}

/** The Idempotency-Key that a request came with, as {@link unquotedKey} gives it; null without one. */
export function idempotencyKeyOf({ idempotency, request }: RecordedExchange): string | null {
  const given = idempotency?.key ?? headerOf(request.headers, 'idempotency-key')
  return given === undefined ? null : unquotedKey(given)
}

/** The same for requests that ask for the same under the same key: who, what, where. Says nothing of their bodies. */
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
