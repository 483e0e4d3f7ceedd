import type { Store } from '../../domain/ports/store.ts'
import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { Known } from '../../partner-api/endpoint.ts'
import { examplePool, examplePortfolio } from '../../partner-api/examples.ts'

/** Examples that exist in the shipped fixture. */
export function knownOfFixture(settings: ServiceSettings): Known {
  const { portfolio_id } = examplePortfolio(settings)
  return { external_id: 'alice', portfolio_id, pool: examplePool(settings) }
}

/** Examples that exist in this sandbox: its first tenant's first pool, end user and portfolio; `otherwise` for those that do not. */
export async function knownIn(store: Store, otherwise: Known): Promise<Known> {
  const first = async <C extends 'tenants' | 'pools' | 'end_users' | 'portfolios'>(collection: C, scope: string) =>
    (await store.page(collection, { scope, limit: 1 })).items[0]
  const tenant = await first('tenants', 'all')
  const pool = tenant && (await first('pools', tenant.tenant_id))
  if (!pool) return otherwise
  const { chain_id, token_address, market_address, protocol } = pool
  const user = await first('end_users', tenant.tenant_id)
  const portfolio = user && (await first('portfolios', user.id))
  return {
    external_id: user?.external_id ?? otherwise.external_id,
    portfolio_id: portfolio?.portfolio_id ?? otherwise.portfolio_id,
    pool: { chain_id, token_address, market_address, protocol },
  }
}
