import { shorten } from '../support/foreign-text.ts'
import { Problem } from './errors.ts'
import type { Store } from './ports/store.ts'
import type { Pool, Tenant } from './records.ts'

/** The fields that identify a pool in a request. Addresses in any case. */
export interface PoolTuple {
  chain_id: string
  token_address: string
  market_address: string
  protocol: string
}

/**
 * Returns the tenant's pool of this tuple. Throws Problem pool_not_found.
 * spec: endpoint 3, rules 1 and 6 (a token address given as market address matches none)
 */
export async function requirePool(store: Store, tenant: Tenant, wanted: PoolTuple): Promise<Pool> {
  const pools = (await store.page('pools', { scope: tenant.tenant_id, limit: Number.MAX_SAFE_INTEGER })).items
  const match = pools.find(
    (pool) =>
      pool.chain_id === wanted.chain_id &&
      pool.protocol === wanted.protocol &&
      sameAddress(pool.token_address, wanted.token_address) &&
      sameAddress(pool.market_address, wanted.market_address),
  )
  if (match) return match
  const swapped = sameAddress(wanted.token_address, wanted.market_address)
  const flaw = swapped
    ? { aspect: 'market_address', expected: 'the market_address of the pool list', came: 'the token_address' }
    : nearMiss(pools, wanted)
  throw new Problem('pool_not_found', {
    detail: swapped
      ? 'market_address is the token address; it must be the market_address of the pool list.'
      : 'No pool of the tenant has this chain_id, token_address, market_address and protocol; take all four from one item of the pool list.',
    ...flaw,
  })
}

/** Finds a pool that differs in one field only, and names that field. */
function nearMiss(pools: readonly Pool[], wanted: PoolTuple) {
  for (const pool of pools) {
    const wrong = TUPLE.filter((field) => !sameAddress(pool[field], wanted[field]))
    const [field] = wrong
    if (wrong.length === 1 && field) return { aspect: field, expected: pool[field], came: shorten(wanted[field]) }
  }
  return { aspect: 'body', expected: TUPLE.join(', '), came: 'those of no pool' }
}

const TUPLE = ['chain_id', 'token_address', 'market_address', 'protocol'] as const

function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
