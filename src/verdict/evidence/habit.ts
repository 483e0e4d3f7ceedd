/**
 * @returns true if wrong requests are how the client is, rather than some that a test suite sends to see them refused: more was
 * wrong than right.
 */
export function isHabit(right: number, wrong: number): boolean {
  return wrong > right
}

/** What stands behind the facts when a single wrong request may be wanted. */
export const PERHAPS_A_TEST = 'It may be a test of how the service refuses this.'
