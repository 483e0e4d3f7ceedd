import type { Store } from '../domain/ports/store.ts'
import { allOf } from '../domain/walk.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import { inTurns } from '../support/breathe.ts'
import { SHOWN_AT_ONCE } from '../traffic/page-exchanges.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { Evidence, LedgerTransfer } from '../verdict/evidence.ts'
import type { Namespace } from './namespace.ts'

/**
 * What a namespace knows of its clients; `ended`: whether they will do nothing more. A chain that is away changes nothing of it. Throws
 * Problem sandbox_starting before there is a ledger, and while it is emptied.
 */
export async function evidenceOf({ services, http }: Namespace, ended: boolean): Promise<Evidence> {
  refuseUnlessReady(http.notReady())
  const { exchanges, service } = services
  const transfers = await transfersOf(service.store)
  const shown: RecordedExchange[] = []
  for await (const exchange of inTurns(exchanges.newestFirst(), SHOWN_AT_ONCE)) shown.push(exchange)
  return {
    exchanges: shown.reverse(),
    forgotten: exchanges.forgotten,
    transfers,
    ended,
    now: service.clock.wallNow(),
    settings: service.settings,
  }
}

/** Settled transfers that requests asked for, oldest first: each has an Idempotency-Key, and those of the fixture have none. */
async function transfersOf(store: Store): Promise<LedgerTransfer[]> {
  const found: { at: string; transfer: LedgerTransfer }[] = []
  for (const tenant of await allOf(store, 'tenants', 'all')) {
    for (const user of await allOf(store, 'end_users', tenant.tenant_id)) {
      for (const { id, type, idempotency_id, created_at, ...rest } of await allOf(store, 'transactions', user.id)) {
        if (idempotency_id === null || type === 'yield_harvest') continue
        const transfer: LedgerTransfer = {
          transaction_id: id,
          type: type === 'withdrawal' ? 'withdraw' : 'deposit',
          tenant: tenant.slug,
          external_id: user.external_id,
          portfolio_id: rest.portfolio_id,
          amount_minor: rest.amount_changed,
          tx_hash: rest.tx_hash,
        }
        found.push({ at: `${created_at} ${id}`, transfer })
      }
    }
  }
  return found.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ transfer }) => transfer)
}
