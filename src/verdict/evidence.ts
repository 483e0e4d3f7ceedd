import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Facts } from '../oracle/facts.ts'

/** What findings are drawn from. */
export interface Evidence extends Facts {
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}
