import type { Money, PoolMoney, TokenMoney, UserMoney } from '../../domain/money.ts'
import { OF_END_USER } from '../../faults/parameters.ts'
import { amountInWords } from '../../support/quantities.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * Compares the money of all end users after two runs: transfers by type and amount, which make the principals, and wallets. Yields are not
 * compared. Returns a sentence for each difference:
 * "alice: 2,000.00 USDC in aave-usdc instead of 1,000.00 (deposit of 1,000.00: twice instead of once)".
 */
export function compareMoney(expected: OwnedMoney, actual: OwnedMoney): string[] {
  return usersInPairs(expected, actual).flatMap(([who, before, after]) => compareUser(who, before, after))
}

/**
 * @returns true if every end user has as much in each pool, and in the wallet. It may have come there by other transfers: a market rounds each
 * of them by up to one minor unit (assumption `withdraw-all`), so that a withdrawal in two parts may pay one less than it would have at once.
 */
export function holdTheSame(expected: OwnedMoney, actual: OwnedMoney): boolean {
  return usersInPairs(expected, actual).every(([, before, after]) => {
    const pools = poolsInPairs(before, after)
    return (
      pools.every(([was, is]) => isWithin(otherTransfers([[was, is]]), was?.principal, is?.principal)) &&
      walletsInPairs(before, after).every(([was, is]) => {
        const ofToken = pools.filter(([one, other]) => (one ?? other)?.token_symbol === was.token_symbol)
        return isWithin(otherTransfers(ofToken), was.balance, is.balance)
      })
    )
  })
}

/** @returns true if two amounts of minor units are no further apart than that; an amount that is not there is 0 */
function isWithin(units: number, one = '0', other = '0'): boolean {
  const apart = BigInt(one) - BigInt(other)
  return apart <= units && -apart <= units
}

/** Number of transfers in these pools that only one of two runs has. */
function otherTransfers(pools: readonly PoolPair[]): number {
  const changes = pools.flatMap(([was, is]) => changedCounts(was, is))
  return changes.reduce((sum, { was, is }) => sum + Math.abs(was - is), 0)
}

/** An end user's name, and the money after two runs; undefined for an end user that one of them does not have. */
export type UserPair = [who: string, expected: UserMoney | undefined, actual: UserMoney | undefined]

/** Pairs end users with a lasting name by that; others by equal money, and those that are left by the order of appearance. */
export function usersInPairs(expected: OwnedMoney, actual: OwnedMoney): UserPair[] {
  const names = new Set([...expected.named.keys(), ...actual.named.keys()])
  const named = [...names].map((name): UserPair => [name, expected.named.get(name), actual.named.get(name)])
  const left = [...actual.unnamed]
  const changed = expected.unnamed
    .map((user, i) => ({ user, i }))
    .filter(({ user }) => {
      const same = left.findIndex((other) => signature(other) === signature(user))
      if (same >= 0) left.splice(same, 1)
      return same < 0
    })
  const count = Math.max(changed.length, left.length)
  const unnamed = Array.from({ length: count }, (_, at): UserPair => {
    const [before, after] = [changed[at], left[at]]
    return [`end user ${(before?.i ?? expected.unnamed.length + at) + 1}`, before?.user, after]
  })
  return [...named, ...unnamed]
}

function compareUser(who: string, expected: UserMoney | undefined, actual: UserMoney | undefined): string[] {
  const moved = poolsInPairs(expected, actual).flatMap(([before, after]) => comparePool(who, before, after))
  // The transfers explain the wallet; without a difference there, the wallets must be equal.
  return moved.length > 0 ? moved : compareWallets(who, expected, actual)
}

function comparePool(who: string, expected: PoolMoney | undefined, actual: PoolMoney | undefined): string[] {
  const pool = expected ?? actual
  if (!pool) return []
  const { token_decimals: decimals, token_symbol: symbol, pool_id } = pool
  const words = (minor: string | bigint) => amountInWords(BigInt(minor), decimals)
  const changes = changedCounts(expected, actual).map(({ key, was, is }) => {
    const [type = '', amount = '0'] = key.split(' ')
    return `${type} of ${words(amount)}: ${times(is)} instead of ${times(was)}`
  })
  if (changes.length === 0) return []
  const [held, wanted] = [BigInt(actual?.principal ?? 0), BigInt(expected?.principal ?? 0)]
  const instead = held === wanted ? 'as it should be, but by other ways' : `instead of ${words(wanted)}`
  return [`${who}: ${words(held)} ${symbol} in ${pool_id} ${instead} (${changes.join('; ')})`]
}

function compareWallets(who: string, expected: UserMoney | undefined, actual: UserMoney | undefined): string[] {
  return walletsInPairs(expected, actual).flatMap(([{ token_symbol, token_decimals, balance }, other]) => {
    if (other.balance === balance) return []
    const [is, was] = [other.balance, balance].map((minor) => amountInWords(BigInt(minor), token_decimals))
    return [`${who}: ${is} ${token_symbol} in the wallet instead of ${was}`]
  })
}

/** A pool's money after two runs; undefined in a run that does not have it. */
type PoolPair = [expected: PoolMoney | undefined, actual: PoolMoney | undefined]

function poolsInPairs(expected: UserMoney | undefined, actual: UserMoney | undefined): PoolPair[] {
  const ids = new Set([...(expected?.pools ?? []), ...(actual?.pools ?? [])].map(({ pool_id }) => pool_id))
  const poolOf = (user: UserMoney | undefined, id: string) => user?.pools.find(({ pool_id }) => pool_id === id)
  return [...ids].map((id) => [poolOf(expected, id), poolOf(actual, id)])
}

/** The balances of each token that both runs have. An end user missing in one run has not used the wallet. */
function walletsInPairs(
  expected: UserMoney | undefined,
  actual: UserMoney | undefined,
): [expected: TokenMoney, actual: TokenMoney][] {
  return (expected?.wallet ?? []).flatMap((token) => {
    const { token_symbol, chain_id } = token
    const other = actual?.wallet.find((one) => one.token_symbol === token_symbol && one.chain_id === chain_id)
    return other ? [[token, other] as [TokenMoney, TokenMoney]] : []
  })
}

/** Transfers of which one run has more than the other: "deposit 1000000", and the number in each. */
function changedCounts(expected: PoolMoney | undefined, actual: PoolMoney | undefined) {
  const [before, after] = [countsOf(expected), countsOf(actual)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was = 0, is = 0] = [before.get(key), after.get(key)]
    return was === is ? [] : [{ key, was, is }]
  })
}

/** Number of a pool's transfers, by type and amount. */
function countsOf(pool: PoolMoney | undefined): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { type, amount_minor } of pool?.transfers ?? []) {
    const key = `${type} ${amount_minor}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

function signature({ pools, wallet }: UserMoney): string {
  const held = pools.map((pool) => [pool.pool_id, [...countsOf(pool)].sort()])
  return JSON.stringify([
    held.sort(),
    wallet.map(({ chain_id, token_symbol, balance }) => [chain_id, token_symbol, balance]),
  ])
}

function times(count: number): string {
  return ['never', 'once', 'twice'][count] ?? `${count} times`
}

/** Money by owner, comparable between runs whose end users have other names each time. */
export interface OwnedMoney {
  /** Money of end users whose name is the same in every run. */
  named: ReadonlyMap<string, UserMoney>
  /** Money of the others, in the order in which they appeared. */
  unnamed: readonly UserMoney[]
}

/** Names of the end users in the requests. */
export function endUsersOf(exchanges: readonly RecordedExchange[]): Set<string> {
  return new Set(appearancesOf(exchanges).map(({ external_id }) => external_id))
}

/** Sorts money by owner; `stable` holds the names that are the same in every run. End users without a request in any run do not count. */
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
  // An end user that no request reached, since the token was refused, has the money of the fixture.
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
