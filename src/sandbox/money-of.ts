import type { AuditReport } from '../domain/audit-report.ts'
import { type Money, readMoney } from '../domain/money.ts'
import { retryChainOutage } from '../domain/retry-chain-outage.ts'
import type { Namespace } from './namespace.ts'

/**
 * The money of a namespace by ledger and chain, with an audit. No transfer may be under way. Waits up to `patience` milliseconds for a
 * chain that does not answer, as happens on a busy machine. Throws ChainUnavailableError.
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
 * Number of transfers still under way after `milliseconds` of real time, including those that wait for their turn and are not signed yet.
 * Resolves as soon as there are none. A signed transfer that nothing carries out stays under way for ever.
 */
export async function unsettledAfter({ services }: Namespace, milliseconds: number): Promise<number> {
  const { clock, store, transfers } = services.service
  const over = new AbortController()
  await Promise.race([transfers.idle(), clock.wallSleep(milliseconds, over.signal)])
  over.abort()
  return Math.max(transfers.running, await store.count('transfers', 'all'))
}
