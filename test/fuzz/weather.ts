/**
 * What else goes on while requests are sent. `clear`: nothing but what the service and its faults do themselves. `calm`: Anvil's
 * own methods too, on the second chain; the tenants on the first one must not feel it, so no failure of theirs is excused.
 * `stormy`: Anvil's own methods on every chain, resets, and the clock moved by centuries. Whoever needs a chain may be told
 * that it is away.
 */
export type Weather = 'clear' | 'calm' | 'stormy'

const CYCLE: readonly Weather[] = ['clear', 'stormy', 'calm', 'stormy']

/** The weather of a lap; the first is 0. */
export function weatherOf(lap: number): Weather {
  return CYCLE[lap % CYCLE.length]!
}
