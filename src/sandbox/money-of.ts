import type { AuditReport } from '../domain/audit-report.ts'
import { type Money, readMoney } from '../domain/money.ts'
import { retryChainOutage } from '../domain/retry-chain-outage.ts'
import type { Namespace } from './namespace.ts'

/**
 * Where the money of a namespace is, by ledger and chain, and whether they agree. Nothing may be under way. Waits so many milliseconds
 * for a chain that does not answer: on a busy machine that happens. Throws ChainUnavailableError.
 */
export async function auditedMoneyOf(
  { services: { store, observer, audit, service } }: Namespace,
  patience: number,
): Promise<{ money: Money; audit: AuditReport }> {
  const { clock } = service
  const deadline = clock.wallNow() + patience
  const read = async () => {
    const [money, report] = await Promise.all([readMoney(store, observer), audit.run()])
    return { money, audit: report }
  }
  return retryChainOutage(read, { clock, ended: () => clock.wallNow() >= deadline, attempts: Number.POSITIVE_INFINITY })
}

/**
 * How many transfers are still under way after so many milliseconds of real time, those included that wait for their turn and are
 * not signed yet: resolves as soon as none is. One that is signed and that nothing carries out is under way for ever.
 */
export async function unsettledAfter({ services }: Namespace, milliseconds: number): Promise<number> {
  const { clock, store, transfers } = services.service
  const over = new AbortController()
  await Promise.race([transfers.idle(), clock.wallSleep(milliseconds, over.signal)])
  over.abort()
  return Math.max(transfers.running, await store.count('transfers', 'all'))
}
