import type { EndUser } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { Seeder } from '../fixtures/seed.ts'

/** Seeds through the service's own rules: a fixture's deposits are real transactions, confirmed at once. */
export function seedService({ endUsers, portfolios, transfers }: Service): Seeder {
  const users = new Map<string, EndUser>()
  return {
    async createEndUsers(tenant, wishes) {
      const made = await endUsers.createTogether(tenant, wishes)
      for (const user of made) users.set(user.id, user)
      return made
    },
    async createPortfolio(_tenant, user, pool, wish) {
      return (await portfolios.create(user, pool, wish)).portfolio
    },
    async deposit(portfolio, amount) {
      const user = users.get(portfolio.end_user_id)
      if (!user) throw new Error('a seeded portfolio belongs to a seeded end user')
      const { portfolio_id } = portfolio
      await transfers.run({
        type: 'deposit',
        user,
        portfolio_id,
        amount,
        delay: 0,
        onPhase: async () => undefined,
      })
    },
  }
}
