/** What others have in a node and no checkpoint keeps. It is gone with the node, and with a way back to its checkpoint. */
export class ForeignState {
  /** A snapshot, a filter or a setting: another node must not take this one's place unnoticed. */
  pinned = false
  /** A setting that no way back undoes: only another node is without it. */
  altered = false
  /** The time of the next block was set. */
  timeSet = false
  /** Snapshots by id, with where the chain stood. */
  readonly snapshots = new Map<string, SnapshotPlace>()
}

/** Where the chain stood when somebody took a snapshot. */
export interface SnapshotPlace {
  height: number
  /** What the service itself had done to the chain by then: a number that only grows. */
  ownChanges: number
}
