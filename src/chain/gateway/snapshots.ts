import type { ForeignState, SnapshotPlace } from '../node/anvil-node.ts'

/** Blocks that can be taken back: Anvil does not keep its state of many more. */
const MOST_BLOCKS = 30

/** @returns true if a method takes a snapshot for `evm_revert`. */
export function takesSnapshot(method: string): boolean {
  return /^(evm|anvil)_snapshot$/.test(method)
}

export function reverts(method: string): boolean {
  return /^(evm|anvil)_revert$/.test(method)
}

/** Remembers where the chain stood when a snapshot of that id was taken. */
export function remember({ snapshots }: ForeignState, id: unknown, place: SnapshotPlace): void {
  const key = snapshotKey(id)
  if (key !== undefined) snapshots.set(key, place)
}

/**
 * Why the chain must not go back to a snapshot, `'unknown'` if there is none of that id; undefined if it may. What the
 * service itself did since then stands in its ledger: a chain without it would be another one.
 */
export function obstacleToRevert({ snapshots }: ForeignState, id: unknown, now: SnapshotPlace): string | undefined {
  const taken = snapshots.get(snapshotKey(id) ?? '')
  if (!taken) return 'unknown'
  if (taken.ownChanges !== now.ownChanges) {
    return 'the service has moved funds since that snapshot, and its ledger says so: POST /_sandbox/reset takes back both'
  }
  if (now.height - taken.height > MOST_BLOCKS) return `no more than ${MOST_BLOCKS} blocks can be taken back`
  return undefined
}

/** @returns true if somebody may still go back to a snapshot. Blocks of ours would make that impossible. */
export function canGoBack(foreign: ForeignState, now: SnapshotPlace): boolean {
  return [...foreign.snapshots.keys()].some((id) => obstacleToRevert(foreign, id, now) === undefined)
}

/** Forgets a snapshot the chain went back to: its id is used up. */
export function forget({ snapshots }: ForeignState, id: unknown): void {
  snapshots.delete(snapshotKey(id) ?? '')
}

/** An id as a number, however it is written. */
function snapshotKey(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
  return typeof id === 'string' && /^(0x[0-9a-f]{1,16}|\d{1,16})$/i.test(id) ? BigInt(id).toString() : undefined
}
