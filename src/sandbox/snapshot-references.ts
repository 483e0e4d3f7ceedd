import type { SnapshotContent } from '../snapshot/snapshot-content.ts'
import { damagedSnapshot } from '../snapshot/snapshot-error.ts'

/** Members of records that name another record, with the collection of that. */
const REFERENCES = {
  tenant_id: 'tenants',
  end_user_id: 'end_users',
  portfolio_id: 'portfolios',
} as const

/** The member of a record that is its id, by collection. Idempotency keys and pools are named by nothing. */
const IDS: Record<string, string> = {
  tenants: 'tenant_id',
  end_users: 'id',
  portfolios: 'portfolio_id',
  transactions: 'id',
  transfers: 'id',
  idempotency_keys: 'id',
}

/** Throws SnapshotError if a record of the ledger is there twice, or names another record that is not there. */
export function checkReferences({ puts, about, chains }: SnapshotContent): void {
  const ids = new Map<string, Set<string>>()
  const externalIds = new Set<string>()
  for (const [collection, , record] of puts) {
    const member = IDS[collection]
    if (member !== undefined) note(ids, collection, String(Reflect.get(record, member)))
    if ('external_id' in record) {
      const user = `${record.tenant_id}/${record.external_id}`
      if (externalIds.has(user)) throw damagedSnapshot(`its ledger holds the end user ${record.external_id} twice`)
      externalIds.add(user)
    }
  }
  const pools = new Set(
    puts.flatMap(([collection, , record]) =>
      collection === 'pools' && 'pool_id' in record ? `${record.tenant_id}/${record.pool_id}` : [],
    ),
  )
  for (const [collection, sequence, record] of puts) {
    for (const [member, of] of Object.entries(REFERENCES)) {
      const id: unknown = Reflect.get(record, member)
      if (id !== undefined && !ids.get(of)?.has(String(id))) throw nameless(collection, member)
    }
    if (collection === 'portfolios' && 'pool_id' in record && !pools.has(`${record.tenant_id}/${record.pool_id}`)) {
      throw nameless(collection, 'pool_id')
    }
    if ('chain_id' in record && !chains.some(({ chain_id }) => chain_id === record.chain_id)) {
      throw nameless(collection, 'chain_id')
    }
    if (sequence > about.ledger.sequence) throw damagedSnapshot('its ledger is longer than it says')
  }
}

function note(ids: Map<string, Set<string>>, collection: string, id: string): void {
  const known = ids.get(collection) ?? new Set()
  if (known.has(id)) throw damagedSnapshot(`its ledger holds a record of ${collection} twice`)
  ids.set(collection, known.add(id))
}

function nameless(collection: string, member: string): Error {
  return damagedSnapshot(`a record of ${collection} names a ${member} that it does not hold`)
}
