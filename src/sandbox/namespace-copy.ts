import type { ChainCopies } from '../chain/chain-copy.ts'
import type { ClockState } from '../domain/clock.ts'
import type { IdsMade } from '../domain/ids.ts'
import type { Showing } from '../domain/records.ts'
import type { LedgerEntry } from '../store/ledger-entry.ts'
import type { SeededRandom } from '../support/random.ts'

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
