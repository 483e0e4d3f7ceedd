import type { Money, PoolMoney } from '../domain/money.ts'
import { allOf } from '../domain/walk.ts'
import type { Namespace } from './namespace.ts'
export async function moneyOf({ services }: Namespace): Promise<Money> {
  const { store } = services.service
  const users: Money['users'] = []
  for (const t of await allOf(store, 'tenants', 'all'))
    for (const u of await allOf(store, 'end_users', t.tenant_id)) {
      const pools = new Map<string, PoolMoney>()
      const ports = await allOf(store, 'portfolios', u.id)
      for (const p of ports) {
        const m = pools.get(p.pool_id) ?? {
          pool_id: p.pool_id,
          token_symbol: p.token_symbol,
          token_decimals: p.token_decimals,
          principal: '0',
          transfers: [],
        }
        m.principal = String(BigInt(m.principal) + BigInt(p.deposited))
        pools.set(p.pool_id, m)
      }
      for (const x of await allOf(store, 'transactions', u.id)) {
        if (x.idempotency_id === null || x.type === 'yield_harvest') continue
        const p = ports.find((q) => q.portfolio_id === x.portfolio_id)
        pools.get(p?.pool_id ?? '')?.transfers.unshift({
          type: x.type === 'deposit' ? 'deposit' : 'withdraw',
          amount_minor: x.amount_changed,
          tx_hash: x.tx_hash,
          transaction_id: x.id,
        })
      }
      users.push({ tenant: t.slug, external_id: u.external_id, pools: [...pools.values()], wallet: [] })
    }
  return { users }
}
export async function unsettledAfter({ services }: Namespace, ms: number): Promise<number> {
  const { store, clock } = services.service
  const end = clock.wallNow() + ms
  for (;;) {
    const n = await store.count('transfers', 'all')
    if (n === 0 || clock.wallNow() > end) return n
    await clock.wallSleep(10)
  }
}
