import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * The Idempotency-Key that a request came with, as the service compares it: without the quotes that the IETF draft's form puts
 * around it. Null without one.
 */
export function keyOf({ idempotency, request }: RecordedExchange): string | null {
  const given = idempotency?.key ?? headerOf(request.headers, 'idempotency-key')
  if (given === undefined) return null
  return /^".*"$/.test(given) ? given.slice(1, -1) : given
}
