import type { CountedRequests, NamespaceHoldings, NamespaceUsage, Usage } from '../control/contract.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { OUTCOMES, RequestCounts } from '../traffic/request-counts.ts'
import type { Namespace } from './namespace.ts'
import type { Namespaces } from './namespaces.ts'
import type { Surroundings } from './surroundings.ts'

/** Dependencies of {@link usageOf}. */
export interface UsageDeps {
  namespaces: Namespaces
  surroundings: Surroundings
  /** For real time only. */
  clock: SandboxClock
  /** When the sandbox began, in milliseconds since the Unix epoch. */
  began: number
}

/** What a sandbox and its namespaces use now. Opens no namespace, and makes no call to a chain. */
export function usageOf({ namespaces, surroundings, clock, began }: UsageDeps): Usage {
  const { meter, pool, options } = surroundings
  const now = clock.wallNow()
  const { rss, heapUsed } = process.memoryUsage()
  const all = namespaces.known().map(({ summary, open }): NamespaceUsage => {
    const { name, created_at } = summary
    const counts = meter.find(name) ?? new RequestCounts()
    return {
      name,
      ...(created_at !== undefined && { created_at, age_seconds: seconds(now - Date.parse(created_at)) }),
      requests: countedIn(counts),
      last_request_at: lastRequest(counts, open),
      anvils: open?.services.chains.started?.all().filter(({ awake }) => awake).length ?? 0,
      holdings: open ? holdingsOf(open) : null,
    }
  })
  return {
    uptime_seconds: seconds(now - began),
    memory: { resident_bytes: rss, heap_used_bytes: heapUsed },
    anvils: { running: pool.nodes, limit: options.maxNodes },
    requests: countedIn(meter.all),
    namespace_count: {
      total: all.length,
      open: all.filter(({ holdings }) => holdings !== null).length,
      limit: options.maxNamespaces,
    },
    namespaces: all,
  }
}

function holdingsOf({ services: { store, exchanges } }: Namespace): NamespaceHoldings {
  const { bytes, of } = store.footprint
  return {
    record_bytes: exchanges.bytes,
    ledger: {
      bytes,
      bytes_of: of,
      end_users: store.size('end_users'),
      portfolios: store.size('portfolios'),
      transactions: store.size('transactions'),
    },
  }
}

/** The clock of the machine may have been set back: never less than nothing. */
export function seconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000))
}

/** Counts of requests as the control interface shows them. */
export function countedIn(counts: RequestCounts): CountedRequests {
  const by_outcome = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counts.count(outcome)]))
  return { total: counts.total, by_outcome: by_outcome as CountedRequests['by_outcome'] }
}

function lastRequest({ lastAt }: RequestCounts, open: Namespace | undefined): string | null {
  const { newestAt = null, rpcAt = null } = open?.services.exchanges ?? {}
  const last = Math.max(lastAt, newestAt ?? 0, rpcAt ?? 0)
  return last === 0 ? null : new Date(last).toISOString()
}
