import type { Services } from './build-services.ts'
import type { NamespaceCopy } from './namespace-copy.ts'

/** Everything of a copy but the chains: call it while these stand still. */
export async function copyServices(services: Services): Promise<Omit<NamespaceCopy, 'chains'>> {
  const { service, store, random, ids, faults } = services
  await store.whole()
  return {
    ledger: store.entries(),
    showings: service.showings.all(),
    random: random.copy(),
    ids: ids.made,
    clock: service.clock.state,
    mayBeBroken: faults.list().length > 0,
  }
}
