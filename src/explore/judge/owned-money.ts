import type { Money, UserMoney } from '../../domain/money.ts'
import { OF_END_USER } from '../../faults/operation-groups.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** Money by whose it is, so that it can be compared between runs whose end users have other names each time. */
export interface OwnedMoney {
  /** Of end users whose name is the same in every run. */
  named: ReadonlyMap<string, UserMoney>
  /** Of the others, in the order in which they appeared. */
  unnamed: readonly UserMoney[]
}

/** Names of the end users that requests were for. */
export function endUsersOf(exchanges: readonly RecordedExchange[]): Set<string> {
  return new Set(appearancesOf(exchanges).map(({ external_id }) => external_id))
}

/** Sorts money by its owners; `stable` are the names that are the same in every run. Those whom no request of any run was for do not count. */
export function ownedMoney(
  money: Money,
  exchanges: readonly RecordedExchange[],
  stable: ReadonlySet<string>,
): OwnedMoney {
  const named = new Map<string, UserMoney>()
  const unnamed: UserMoney[] = []
  const appearances = appearancesOf(exchanges)
  const tenants = new Set(appearances.map(({ tenant }) => tenant))
  for (const { tenant, external_id } of appearances) {
    const user = money.users.find((one) => one.tenant === tenant && one.external_id === external_id)
    if (!user) continue
    if (stable.has(external_id)) named.set(tenants.size > 1 ? `${external_id} (${tenant})` : external_id, user)
    else unnamed.push(user)
  }
  // One who was never asked for, for the token was refused, has what the fixture gave.
  const appeared = new Set(appearances.map(({ external_id }) => external_id))
  for (const name of stable) {
    const [user, another] = money.users.filter(({ external_id }) => external_id === name)
    if (user && !another && !appeared.has(name)) named.set(name, user)
  }
  return { named, unnamed }
}

function appearancesOf(exchanges: readonly RecordedExchange[]) {
  const seen = new Map<string, { tenant: string | null; external_id: string }>()
  for (const { operation, tenant, external_id } of exchanges) {
    if (operation === null || external_id === null || !OF_END_USER.includes(operation)) continue
    seen.set(`${tenant}/${external_id}`, { tenant, external_id })
  }
  return [...seen.values()]
}
