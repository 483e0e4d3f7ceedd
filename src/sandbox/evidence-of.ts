import type { Store } from '../domain/ports/store.ts'
import type { EndUser, Portfolio, Tenant } from '../domain/records.ts'
import { allOf, pagesOf } from '../domain/walk.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import type { Ledger, LedgerPortfolio, LedgerTransfer } from '../oracle/facts.ts'
import { inTurns } from '../support/breathe.ts'
import { jsonObject } from '../support/json.ts'
import { SHOWN_AT_ONCE } from '../traffic/page-exchanges.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { Evidence, TakenAway } from '../verdict/finding.ts'
import type { Services } from './build-services.ts'

/** The parts of a namespace that are evidence. */
interface EvidenceSource {
  services: Pick<Services, 'exchanges' | 'service'>
  http: { notReady(): string | undefined }
  takenAway: TakenAway
  takenOver: string | undefined
}

/**
 * A namespace's evidence on its clients. An outage of a chain does not change it. Throws Problem sandbox_starting before there is a
 * ledger, and while a reset empties it.
 */
export async function evidenceOf(
  { services, http, takenAway, takenOver }: EvidenceSource,
  { ended, end }: Pick<Evidence, 'ended' | 'end'>,
): Promise<Evidence> {
  refuseUnlessReady(http.notReady())
  const { exchanges, service } = services
  const ledger = await ledgerOf(service.store)
  const shown: RecordedExchange[] = []
  for await (const exchange of inTurns(exchanges.newestFirst(), SHOWN_AT_ONCE)) shown.push(exchange)
  const oldest = shown.at(-1)?.number ?? Number.POSITIVE_INFINITY
  const kept: RecordedExchange[] = []
  for await (const exchange of inTurns(exchanges.kept(), SHOWN_AT_ONCE)) {
    if (exchange.number < oldest) kept.push(exchange) // the others were dropped meanwhile, and are in `shown`
  }
  return {
    exchanges: shown.reverse(),
    kept,
    forgotten: exchanges.forgotten,
    ...(takenOver !== undefined && { taken_over: takenOver }),
    taken_away: { ...takenAway },
    ledger,
    rpc_at: exchanges.rpcAt,
    ended,
    end,
    now: service.clock.wallNow(),
    settings: service.settings,
  }
}

/** The transfers and portfolios that requests have made. */
export async function ledgerOf(store: Store): Promise<Ledger> {
  const owners = await ownersOf(store)
  const transfers = await settledOf(store, owners)
  const under_way = (await allOf(store, 'transfers', 'all')).flatMap(({ id, claim, amount, ...rest }) => {
    const owner = owners.find(({ user }) => user.id === rest.end_user_id)
    if (!owner || claim === null) return []
    return [transferOf({ ...rest, id, amount_changed: amount, idempotency_id: claim.id }, owner)]
  })
  const keys = await creationKeys(store)
  const portfolios = owners.flatMap(({ tenant, user, portfolios }) =>
    portfolios.map(
      ({ portfolio_id, pool_id, token_symbol, token_decimals }): LedgerPortfolio => ({
        tenant: tenant.slug,
        external_id: user.external_id,
        ...{ portfolio_id, pool_id, token_symbol, token_decimals },
        key: keys.get(portfolio_id) ?? null,
      }),
    ),
  )
  return { transfers, under_way, portfolios }
}

interface Owner {
  tenant: Tenant
  user: EndUser
  portfolios: Portfolio[]
}

async function ownersOf(store: Store): Promise<Owner[]> {
  const owners: Owner[] = []
  for (const tenant of await allOf(store, 'tenants', 'all')) {
    for (const user of await allOf(store, 'end_users', tenant.tenant_id)) {
      owners.push({ tenant, user, portfolios: await allOf(store, 'portfolios', user.id) })
    }
  }
  return owners
}

/** Settled transfers of requests, oldest first; these have an Idempotency-Key, while those of the fixture have none. */
async function settledOf(store: Store, owners: readonly Owner[]): Promise<LedgerTransfer[]> {
  const found: { at: string; transfer: LedgerTransfer }[] = []
  for (const owner of owners) {
    if (owner.portfolios.length === 0) continue
    for (const { type, idempotency_id, ...rest } of await allOf(store, 'transactions', owner.user.id)) {
      if (idempotency_id === null || type === 'yield_harvest') continue
      const transfer = transferOf({ ...rest, type, idempotency_id }, owner)
      found.push({ at: `${rest.created_at} ${rest.id}`, transfer })
    }
  }
  return found.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ transfer }) => transfer)
}

interface Moved {
  id: string
  type: 'deposit' | 'withdrawal'
  portfolio_id: string
  amount_changed: string
  tx_hash: string
  idempotency_id: string
}

function transferOf(moved: Moved, { tenant, user }: Owner): LedgerTransfer {
  return {
    transaction_id: moved.id,
    type: moved.type === 'withdrawal' ? 'withdraw' : 'deposit',
    tenant: tenant.slug,
    external_id: user.external_id,
    key: keyIn(moved.idempotency_id),
    portfolio_id: moved.portfolio_id,
    amount_minor: moved.amount_changed,
    tx_hash: moved.tx_hash,
  }
}

/** Idempotency-Key of the creation of each portfolio, while the key is kept. */
async function creationKeys(store: Store): Promise<Map<string, string>> {
  const keys = new Map<string, string>()
  for await (const page of pagesOf(store, 'idempotency_keys', 'all')) {
    for (const { id, status, body } of page) {
      if (status >= 300 || id.split('/', 2)[1] !== 'create_portfolio') continue
      const { portfolio_id } = typeof body === 'string' ? (jsonObject(body) ?? {}) : (body as Record<string, unknown>)
      if (typeof portfolio_id === 'string') keys.set(portfolio_id, keyIn(id))
    }
  }
  return keys
}

/** The key in a claim's id: the part after tenant, operation and external_id. */
function keyIn(claimId: string): string {
  return claimId.split('/').slice(3).join('/')
}
