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

/** Exchanges in groups of one name, each in the order given. */
export function groupedBy(
  exchanges: readonly RecordedExchange[],
  nameOf: (exchange: RecordedExchange) => string | null,
): RecordedExchange[][] {
  const groups = new Map<string, RecordedExchange[]>()
  for (const exchange of exchanges) {
    const name = nameOf(exchange)
    if (name === null) continue
    const group = groups.get(name)
    if (group) group.push(exchange)
    else groups.set(name, [exchange])
  }
  return [...groups.values()]
}
