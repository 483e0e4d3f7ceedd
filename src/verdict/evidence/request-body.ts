import { canonicalJson } from '../../support/canonical-json.ts'
import { jsonObject } from '../../support/json-object.ts'
import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * Whether two requests had the same body. Undefined when nobody can know: a request that was refused or dropped before its body was
 * read has none on record, but its Content-Length may tell that they differ.
 */
export function sameBody(one: RecordedExchange, other: RecordedExchange): boolean | undefined {
  const [a, b] = [one.request, other.request]
  if (a.body === null || b.body === null) return differInLength(one, other) ? false : undefined
  if (a.body === b.body) return a.body_bytes === b.body_bytes
  if (a.body_cut || b.body_cut) return false
  const meant = canonical(a.body)
  return meant !== undefined && meant === canonical(b.body)
}

/** A field of a JSON body; undefined when there is no such body or field. */
export function fieldOf({ request: { body, body_cut } }: RecordedExchange, name: string): unknown {
  const read = body_cut ? undefined : jsonObject(body)
  return read && Object.hasOwn(read, name) ? read[name] : undefined
}

function differInLength(one: RecordedExchange, other: RecordedExchange): boolean {
  const [a, b] = [lengthOf(one), lengthOf(other)]
  return a !== undefined && b !== undefined && a !== b
}

function lengthOf({ request: { headers, body, body_bytes } }: RecordedExchange): number | undefined {
  const header = headerOf(headers, 'content-length')
  if (header !== undefined) return Number(header)
  return body === null ? undefined : body_bytes
}

/** Undefined for what is no JSON. */
function canonical(body: string): string | undefined {
  try {
    return canonicalJson(JSON.parse(body))
  } catch {
    return undefined
  }
}
