import type { ForeignState, SnapshotPlace } from '../node/anvil-node.ts'

/** Limit on the blocks that can be taken back: Anvil does not keep the states of many more. */
const MOST_BLOCKS = 30

/** @returns true if a method takes a snapshot for `evm_revert` */
export function takesSnapshot(method: string): boolean {
  return /^(evm|anvil)_snapshot$/.test(method)
}

export function reverts(method: string): boolean {
  return /^(evm|anvil)_revert$/.test(method)
}

/** Remembers the place of the chain when the snapshot `id` was taken. */
export function remember({ snapshots }: ForeignState, id: unknown, place: SnapshotPlace): void {
  const key = snapshotKey(id)
  if (key !== undefined) snapshots.set(key, place)
}

/**
 * Checks a revert. The chain must keep the changes that the service itself has made since the snapshot: they are in its ledger.
 * @returns the reason why the chain must not go back to a snapshot, `'unknown'` if it does not exist; undefined if it may
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

/** @returns true if the chain may still go back to some snapshot; blocks that the service mines would prevent that */
export function canGoBack(foreign: ForeignState, now: SnapshotPlace): boolean {
  return [...foreign.snapshots.keys()].some((id) => obstacleToRevert(foreign, id, now) === undefined)
}

/** Forgets a snapshot to which the chain went back: its id cannot be used again. */
export function forget({ snapshots }: ForeignState, id: unknown): void {
  snapshots.delete(snapshotKey(id) ?? '')
}

/** @returns a snapshot's id in decimal digits, whatever its notation; undefined if it is not a number */
function snapshotKey(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
  return typeof id === 'string' && /^(0x[0-9a-f]{1,16}|\d{1,16})$/i.test(id) ? BigInt(id).toString() : undefined
}
