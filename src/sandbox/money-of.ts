import { type Money, readMoney } from '../domain/money.ts'
import type { Namespace } from './namespace.ts'

/** Milliseconds between two looks at what is under way. */
const PAUSE_MS = 5

/** Where the money of a namespace is, by ledger and chain. Nothing may be under way. Throws ChainUnavailableError. */
export function moneyOf({ services: { store, observer } }: Namespace): Promise<Money> {
  return readMoney(store, observer)
}

/** How many transfers are still under way after so many milliseconds of real time: resolves as soon as none is. */
export async function unsettledAfter(
  { services: { store, service } }: Namespace,
  milliseconds: number,
): Promise<number> {
  const deadline = service.clock.wallNow() + milliseconds
  for (;;) {
    const count = await store.count('transfers', 'all')
    if (count === 0 || service.clock.wallNow() >= deadline) return count
    await service.clock.wallSleep(PAUSE_MS)
  }
}
