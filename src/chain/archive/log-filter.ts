import type { Address, Hex } from '../../domain/records.ts'

/** A log as a receipt holds it, as far as a filter looks at it. */
export interface FilteredLog {
  address: Address
  topics: Hex[]
}

/** The part of an `eth_getLogs` filter that a single log can be held against. */
export interface LogFilter {
  /** An address or a list of them; none means any. */
  address?: unknown
  /** Place by place: null for any, a topic, or a list of which one must match. */
  topics?: unknown
}

/** @returns true if a log matches, by the rules of `eth_getLogs`. */
export function matchesLog({ address, topics }: LogFilter, log: FilteredLog): boolean {
  const places = Array.isArray(topics) ? topics : []
  return isAmong(address, log.address) && places.every((wanted, place) => isAmong(wanted, log.topics[place]))
}

function isAmong(wanted: unknown, value: string | undefined): boolean {
  if (wanted === null || wanted === undefined || (Array.isArray(wanted) && wanted.length === 0)) return true
  return [wanted].flat().some((one) => one === null || String(one).toLowerCase() === value)
}
