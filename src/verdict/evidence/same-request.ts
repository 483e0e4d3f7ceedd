import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { keyOf } from './idempotency-key.ts'

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
    keyOf(exchange)?.toLowerCase(),
  ])
}
