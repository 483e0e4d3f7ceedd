import type { Services } from './build-services.ts'
import type { NamespaceCopy } from './namespace-copy.ts'

/** Everything of a copy but the chains: call it while these stand still. */
export function copyServices({ service, store, random, ids, faults }: Services): Omit<NamespaceCopy, 'chains'> {
  return {
    ledger: store.entries(),
    showings: service.showings.all(),
    random: random.copy(),
    ids: ids.made,
    clock: service.clock.state,
    mayBeBroken: faults.list().length > 0,
  }
}
