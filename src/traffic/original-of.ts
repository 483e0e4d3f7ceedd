import { inTurns } from '../support/breathe.ts'
import { type RecordedExchanges, SHOWN_AT_ONCE } from './page-exchanges.ts'
import type { RecordedExchange } from './recorded-exchange.ts'

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
