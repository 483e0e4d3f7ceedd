import type { Tenant } from '../domain/records.ts'
import type { LedgerEntry } from '../store/ledger-entry.ts'

/** The same entries, with other tenants in the place of those with their ids. */
export function withTenants(ledger: readonly LedgerEntry[], tenants: readonly Tenant[]): LedgerEntry[] {
  const own = new Map(tenants.map((tenant) => [tenant.tenant_id, tenant]))
  return ledger.map((entry) => {
    if (!('puts' in entry)) return entry
    const puts = entry.puts.map(([collection, sequence, record]): (typeof entry.puts)[number] => {
      const other = collection === 'tenants' ? own.get((record as Tenant).tenant_id) : undefined
      return [collection, sequence, other ?? record]
    })
    return { ...entry, puts }
  })
}
