/**
 * Whether wrong requests are how the client is, rather than one that a test suite sends to see it refused: nothing was right, or
 * more was wrong than right, and not only once.
 */
export function isHabit(right: number, wrong: number): boolean {
  return wrong > 0 && (right === 0 || (wrong > 1 && wrong > right))
}

/** What stands behind the facts when a single wrong request may be wanted. */
export const PERHAPS_A_TEST = 'It may be a test of how the service refuses this; traffic cannot tell.'
