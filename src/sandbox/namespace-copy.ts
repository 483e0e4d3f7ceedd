import type { ChainCopies } from '../chain/chain-copy.ts'
import type { ClockState } from '../domain/clock.ts'
import type { IdsMade } from '../domain/ids.ts'
import type { Showing } from '../domain/records.ts'
import type { LedgerEntry } from '../store/ledger-entry.ts'
import type { SeededRandom } from '../support/random.ts'
import type { Services } from './build-services.ts'

/** A namespace at one moment: all that another one needs to go on from there. Many share one, and none changes it. */
export interface NamespaceCopy {
  readonly ledger: readonly LedgerEntry[]
  readonly showings: readonly Showing[]
  /** Copied once more by whoever draws from it. */
  readonly random: SeededRandom
  readonly ids: IdsMade
  readonly clock: ClockState
  readonly chains: ChainCopies
  /** Whether faults may have left something broken on its chains. */
  readonly mayBeBroken: boolean
}

/** Everything of a copy but the chains: call it while these stand still. */
export function copyOf({ service, store, random, ids, faults }: Services): Omit<NamespaceCopy, 'chains'> {
  return {
    ledger: store.entries(),
    showings: service.showings.all(),
    random: random.copy(),
    ids: ids.made,
    clock: service.clock.state,
    mayBeBroken: faults.list().length > 0,
  }
}
