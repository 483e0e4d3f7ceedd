import { HAZARDS } from './hazards.ts'

/** Kinds of fault that explore does not try, and why. Every kind is either here or among the hazards. */
export const UNTRIED: Readonly<Record<string, string>> = {
  apy_change: 'business time stands still in every run, so that no yield is ever earned',
  deprecation: 'it adds headers to good answers, which change nothing for a client that does not read them',
  slow_confirmation: 'business time stands still in every run, so that it is the same as stuck, which is tried',
}

/** One sentence: which faults are not tried unless they are asked for, and which never are. */
export function untriedInWords(): string {
  const named = HAZARDS.flatMap(({ id, onlyNamed }) => (onlyNamed === undefined ? [] : `${id} (${onlyNamed})`))
  const never = Object.entries(UNTRIED).map(([kind, reason]) => `${kind} (${reason})`)
  return `not among the faults: ${never.join(', ')}; only where --faults names them: ${named.join(', ')}`
}
