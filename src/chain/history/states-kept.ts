/** Blocks whose state a node keeps, as geth does unless it is an archive. */
const STATES = 128
/**
 * Characters of a checkpoint's accounts up to which they are kept. A node keeps each state whole: those of this size take some
 * 300 MB together and 2 ms a block. It is that of some 1,500 end users with deposits.
 */
const LARGEST_STATE = 2_000_000

/** How many states a node keeps that starts at a checkpoint whose accounts have so many characters; at least the last one. */
export function statesKept(characters: number): number {
  return characters <= LARGEST_STATE ? STATES : 1
}
