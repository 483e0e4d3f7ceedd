/**
 * What else goes on while requests are sent. `calm`: nothing that may disturb the tenants who are watched, so no failure of
 * any kind is excused. `stormy`: resets, the end of time, and Anvil's own methods on every chain; the chain may be away for
 * a while, and says so with 503.
 */
export type Weather = 'calm' | 'stormy'

/** Every lap is followed by one of the other kind. */
export function weatherOf(lap: number): Weather {
  return lap % 2 === 0 ? 'calm' : 'stormy'
}
