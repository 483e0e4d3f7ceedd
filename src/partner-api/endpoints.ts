import type { ServiceSettings } from '../domain/service-settings.ts'
import { createEndUser } from './create-end-user.ts'
import { createPortfolio } from './create-portfolio.ts'
import { deposit } from './deposit.ts'
import type { Endpoint } from './endpoint.ts'
import { listPools } from './list-pools.ts'
import { listPortfolios } from './list-portfolios.ts'
import { listTransactions } from './list-transactions.ts'
import { withdraw } from './withdraw.ts'

/** The seven endpoints in the order of the specification, behind the base path. */
export function endpoints(settings: ServiceSettings): Endpoint[] {
  const all = [
    listPools(settings),
    createEndUser(settings),
    createPortfolio(settings),
    listPortfolios(settings),
    deposit(settings),
    withdraw(settings),
    listTransactions(settings),
  ]
  return all.map((endpoint) => ({ ...endpoint, url: `${settings.base_path}${endpoint.url}` }))
}
