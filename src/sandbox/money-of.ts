import { type Money, readMoney } from '../domain/money.ts'
import type { Namespace } from './namespace.ts'

/** Where the money of a namespace is, by ledger and chain. Nothing may be under way. Throws ChainUnavailableError. */
export function moneyOf({ services: { store, observer } }: Namespace): Promise<Money> {
  return readMoney(store, observer)
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
