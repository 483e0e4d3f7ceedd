import type { ArchiveSegment } from './archive/archive-segment.ts'
import type { History } from './history/chain-journal.ts'
import type { MarketValidation } from './markets/validate-markets.ts'

/** A chain at one moment, as far as another one needs it to go on from there. It is shared by all that do, and never changes. */
export interface ChainCopy {
  readonly history: History
  /** The blocks that its node may have forgotten. */
  readonly archived: readonly ArchiveSegment[]
  readonly survey: MarketValidation | undefined
}

/** What chains begin with, by their ids. */
export type ChainCopies = ReadonlyMap<string, ChainCopy>
