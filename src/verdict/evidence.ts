import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Facts } from '../oracle/facts.ts'

/**
 * What requests to the control interface have taken away since the namespace was made: a count each, which no reset sets back. Only those
 * that came over the network count, as of a command that does it to its own sandbox; what this process asks of itself does not.
 */
export interface TakenAway {
  /** Requests to take faults away or to stop a scenario, whether anything was in force or not. */
  clearings: number
  /** Resets. */
  resets: number
  /** Rules that these took away while they could still strike. */
  faults: number
}

/** What findings are drawn from. */
export interface Evidence extends Facts {
  taken_away: TakenAway
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}
