import type { FastifyRequest } from 'fastify'
import type { ActiveFault } from '../faults/active-rule.ts'
import { controlOf, isFromOutside } from './control-parts.ts'

/**
 * Counts a request that takes faults away, or resets: a command that does so to its own sandbox is not proved right by what did not
 * strike. Call it before it does. `concerns`: which rules, by default every one.
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
