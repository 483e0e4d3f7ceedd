import type { Made, Sibling } from './facts.ts'
import type { Operation } from './operation.ts'

/** What an operation asks for, comparable between runs. */
export function madeBy(operation: Operation, { whoIs, amounts }: Pick<Sibling, 'whoIs' | 'amounts'>): Made {
  const { tenant, external_id, type, pool_id, amount_minor } = operation
  return { who: whoIs(tenant, external_id), type, pool_id, amount_minor: amounts ? amount_minor : null }
}

/** The same for equal ones. */
export function madeName({ who, type, pool_id, amount_minor }: Made): string {
  return JSON.stringify([who, type, pool_id, amount_minor])
}

/** The same for those of one end user in one pool, of whatever amount. */
export function placeName({ who, type, pool_id }: Made): string {
  return JSON.stringify([who, type, pool_id])
}
