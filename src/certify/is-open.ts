import type { Level } from '../oracle/outcome.ts'

/** @returns true if somebody has to look before the client can be said to be right */
export function isOpen(level: Level): boolean {
  return level === 'review' || level === 'inconclusive'
}
