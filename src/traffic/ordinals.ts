import type { LiveExchange } from './live-exchange.ts'

/** End users counted apart; the others of an operation and tenant are counted together. */
const MAX_END_USERS = 100_000

/** By operation, tenant and end user. */
type Counts = Map<string | null, Map<string | null | undefined, Map<string | null | undefined, number>>>

/** Counts exchanges by operation, tenant and end user. */
export class Ordinals {
  readonly #counts: Counts

  constructor(counts: Counts = new Map()) {
    this.#counts = counts
  }

  /** The how-manyth of its kind the exchange is, from 1. */
  count({ operation, tenant, external_id }: Pick<LiveExchange, 'operation' | 'tenant' | 'external_id'>): number {
    const tenants = entry(this.#counts, operation, () => new Map())
    const users = entry(tenants, tenant, () => new Map())
    const user = users.size < MAX_END_USERS || users.has(external_id) ? external_id : null
    const count = (users.get(user) ?? 0) + 1
    users.set(user, count)
    return count
  }

  /** To count on from here. */
  copy(): Ordinals {
    const copied: Counts = new Map()
    for (const [operation, tenants] of this.#counts) {
      copied.set(operation, new Map([...tenants].map(([tenant, users]) => [tenant, new Map(users)])))
    }
    return new Ordinals(copied)
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
