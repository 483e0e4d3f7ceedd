import type { FastifyRequest } from 'fastify'
import type { ActiveFault } from '../faults/active-rule.ts'
import { controlOf, isFromOutside } from './control-parts.ts'

/**
 * Counts a request that removes faults or resets the namespace. A command that does this to its own sandbox does not pass for faults that
 * could not strike. Call it before the change. `concerns` selects the rules removed; default: all.
 */
export function noteTaken(
  request: FastifyRequest,
  by: 'clearings' | 'resets',
  concerns: (rule: ActiveFault) => boolean = () => true,
): void {
  if (!isFromOutside(request)) return
  const { faults, takenAway } = controlOf(request)
  takenAway[by]++
  takenAway.faults += faults.list().filter((rule) => canStrike(rule) && concerns(rule)).length
}

function canStrike({ hits, times = 1 }: ActiveFault): boolean {
  return times === 'always' || hits < times
}
