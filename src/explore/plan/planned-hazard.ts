import type { Hazard } from '../exploration.ts'
import type { Place } from './positions.ts'

/** When its turn comes: what can cost money first, what makes a client wait in real time last. */
export const URGENCIES = ['money', 'retry', 'rest', 'wait'] as const

/** A hazard, and where it makes sense. */
export interface PlannedHazard extends Hazard {
  urgency: (typeof URGENCIES)[number]
  /**
   * Milliseconds of real time for which it goes on: it is taken away then. Business time stands still, so that no duration of a fault
   * ever ends, and a client that is right must not be kept from its end.
   */
  holds?: number
  /** Tried only where somebody asks for it by its name, and why. */
  onlyNamed?: string
  fits(place: Place): boolean
}

/** Of a hazard that makes sense at every place. */
export const anywhere = () => true
/** Of one that makes sense only where money moved. */
export const inTransfer = ({ transferred }: Place) => transferred
