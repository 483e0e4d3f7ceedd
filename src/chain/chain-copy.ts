import type { ArchiveSegment } from './archive/archive-segment.ts'
import type { History } from './history/chain-journal.ts'
import type { MarketValidation } from './markets/validate-markets.ts'

/** State of a chain at one moment, from which other chains can go on. It is immutable and shared by all of them. */
export interface ChainCopy {
  readonly history: History
  /** The blocks that its node may have forgotten. */
  readonly archived: readonly ArchiveSegment[]
  readonly survey: MarketValidation | undefined
}

/** Copies with which chains begin, by chain id. */
export type ChainCopies = ReadonlyMap<string, ChainCopy>
