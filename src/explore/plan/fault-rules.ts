import type { FaultRule } from '../../control/contract.ts'
import type { Harm, Position } from '../exploration.ts'

/** The rules that do these harms, each to exactly one request. */
export function faultRules(harms: readonly Harm[]): FaultRule[] {
  return harms.map(({ position, hazard }) => ({ ...hazard.rule, match: matchOf(position) }) as FaultRule)
}

/** A rule as `--fault` takes it: `drop_connection; phase=after_broadcast; how=reset; operation=deposit; external_id=alice; ordinal=2`. */
export function faultText({ kind, phase, match = {}, with: parameters = {} }: FaultRule): string {
  const words = { phase, ...parameters, ...match }
  const written = Object.entries(words).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(String(value))}`],
  )
  return [kind, ...written].join('; ')
}

function matchOf({ operation, tenant, external_id, end_user, ordinal }: Position) {
  const user = external_id !== null ? { external_id } : end_user !== null ? { end_user } : {}
  return { operation, ...(tenant !== null && { tenant }), ...user, ordinal }
}

function quoted(value: string): string {
  return /[;"\s]/.test(value) ? `"${value}"` : value
}
