import type { RecordedExchanges } from './page-exchanges.ts'
import type { RecordedExchange } from './recorded-exchange.ts'

/** The exchange that ran the operation whose outcome this one shared or was given again; undefined when it is forgotten or was itself. */
export function originalOf(exchange: RecordedExchange, log: RecordedExchanges): RecordedExchange | undefined {
  const { idempotency } = exchange
  if (idempotency?.use !== 'joined' && idempotency?.use !== 'replayed') return undefined
  for (const earlier of log.newestFirst(exchange.number)) {
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
