import type { ChainCopies } from '../chain/anvil-chain.ts'
import type { ClockPosition } from '../domain/clock.ts'
import type { IdsMade } from '../domain/ids.ts'
import type { Showing, Tenant } from '../domain/records.ts'
import type { LedgerEntry } from '../store/ledger-entry.ts'
import type { SeededRandom } from '../support/random.ts'

/** State of a namespace at one moment, from which another one can go on. Many namespaces may share one copy; none changes it. */
export interface NamespaceCopy {
  readonly ledger: readonly LedgerEntry[]
  readonly showings: readonly Showing[]
  /** A namespace that draws from it copies it first. */
  readonly random: SeededRandom
  readonly ids: IdsMade
  readonly clock: ClockPosition
  readonly chains: ChainCopies
  /** True if faults have broken something on its chains. */
  readonly owesRepairs: boolean
}

/** The entries with these tenants in the place of those with the same ids. */
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
