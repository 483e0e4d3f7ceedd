import { unquotedKey } from '../../domain/idempotency-key.ts'
import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** The Idempotency-Key that a request came with, as {@link unquotedKey} gives it; null without one. */
export function keyOf({ idempotency, request }: RecordedExchange): string | null {
  const given = idempotency?.key ?? headerOf(request.headers, 'idempotency-key')
  return given === undefined ? null : unquotedKey(given)
}
