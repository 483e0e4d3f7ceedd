import type { Ledger, LedgerPortfolio } from '../oracle/facts.ts'
import { shorten } from '../support/foreign-text.ts'
import { grouped } from '../support/maps.ts'
import { amountInWords } from '../support/quantities.ts'
import type { BooksBalance, BooksFinding, BooksTransfer } from './books.ts'
import { areInterchangeable, type BooksPair, isUnderWay, type LedgerSide } from './pair-rows.ts'

/** The other side of balances: transfers of this run, and the rows of the same books. */
interface BalanceGround {
  pairs: readonly BooksPair[]
  sides: readonly LedgerSide[]
  ledger: Ledger
}

/** What one balance covers. */
interface BalancePlace {
  balance: Omit<BooksBalance, 'principal_minor'>
  /** Undefined if the books have no balance of it: that counts as 0. */
  principal: bigint | undefined
  portfolios: readonly LedgerPortfolio[]
}

/**
 * Compares balances with the deposits less the withdrawals of this run; money of the fixture and yields are left out. Each transfer that is
 * open in the same books may be in its balance or not. Transfers in a place without a balance must come to 0.
 */
export function compareBalances(balances: readonly BooksBalance[], ground: BalanceGround): BooksFinding[] {
  return placesOf(balances, ground.ledger).flatMap((place) => comparePlace(place, ground))
}

function placesOf(balances: readonly BooksBalance[], { portfolios, transfers }: Ledger): BalancePlace[] {
  const named = new Set(balances.flatMap(({ portfolio_id }) => portfolio_id ?? []))
  const covered = balances.map(({ principal_minor, ...balance }) => ({
    balance,
    principal: BigInt(principal_minor),
    portfolios: portfolios.filter((one) => isCoveredBy(one, balance, named)),
  }))
  const known = new Set(covered.flatMap((place) => place.portfolios))
  const moved = new Set(transfers.map(({ portfolio_id }) => portfolio_id))
  const left = portfolios.filter((one) => !known.has(one) && moved.has(one.portfolio_id))
  const others = grouped(left, ({ tenant, external_id, pool_id }) => JSON.stringify([tenant, external_id, pool_id]))
  return [
    ...covered,
    ...[...others.values()].flatMap((group) => {
      const [first] = group
      if (!first) return []
      const { tenant, external_id, pool_id } = first
      return [{ balance: { tenant, external_id, pool_id }, principal: undefined, portfolios: group }]
    }),
  ]
}

/** A balance of a pool is that of all portfolios there that have none of their own. */
function isCoveredBy(
  { tenant, external_id, portfolio_id, pool_id }: LedgerPortfolio,
  balance: BalancePlace['balance'],
  named: ReadonlySet<string>,
): boolean {
  if (external_id !== balance.external_id || (balance.tenant !== undefined && balance.tenant !== tenant)) return false
  if (balance.portfolio_id !== undefined) return balance.portfolio_id === portfolio_id
  return pool_id === balance.pool_id && !named.has(portfolio_id)
}

function comparePlace(place: BalancePlace, { pairs, sides, ledger }: BalanceGround): BooksFinding[] {
  const { balance, principal = 0n, portfolios } = place
  const ids = new Set(portfolios.map(({ portfolio_id }) => portfolio_id))
  const pool = portfolios[0]?.pool_id ?? balance.pool_id
  const own = sides.filter(({ operation, transfer }) => {
    if (transfer) return ids.has(transfer.portfolio_id)
    return operation.external_id === balance.external_id && operation.pool_id === pool
  })
  if (own.some(isUnderWay)) return []
  const open = pairs.filter(({ row }) => row.state === 'open' && isOpenAt(row, balance, { ids, pool }))
  const undecided = new Map(open.flatMap((pair) => (pair.side && own.includes(pair.side) ? [[pair.side, pair]] : [])))
  // A row that names its pool alone may be open for an equal transfer in another portfolio there.
  for (const pair of open.filter(({ side }) => side && !own.includes(side))) {
    const other = pairs.find(({ side, row }) => {
      if (!side || undecided.has(side) || row.state !== 'done' || !own.includes(side)) return false
      return areInterchangeable(pair, { row, side })
    })
    if (other?.side) undecided.set(other.side, pair)
  }
  const certain = own.flatMap((side) => (side.transfer && !undecided.has(side) ? signed(side.transfer) : []))
  const choices = open.map(({ row, side }) => signed(side?.transfer ?? row))
  let sums = new Set([certain.reduce((sum, amount) => sum + amount, 0n)])
  for (const choice of choices) sums = new Set([...sums, ...[...sums].map((sum) => sum + choice)])
  if (sums.has(principal)) return []
  const all = own
    .flatMap(({ transfer }) => (transfer ? signed(transfer) : []))
    .reduce((sum, amount) => sum + amount, 0n)
  const [portfolio] = portfolios
  return [
    {
      verdict: 'wrong',
      sentence: sentenceOn(place, all, ledger),
      operations: [...new Set(own.map(({ operation }) => operation))],
      ...(portfolio && all > principal && { missing: { ...portfolio, amount_minor: String(all - principal) } }),
    },
  ]
}

function isOpenAt(
  row: BooksTransfer,
  { external_id, tenant }: BalancePlace['balance'],
  { ids, pool }: { ids: ReadonlySet<string>; pool: string | undefined },
): boolean {
  if (row.external_id !== external_id) return false
  if (tenant !== undefined && row.tenant !== undefined && row.tenant !== tenant) return false
  return row.portfolio_id === undefined ? row.pool_id === pool : ids.has(row.portfolio_id)
}

function signed({ type, amount_minor }: { type: string; amount_minor: string }): bigint {
  return BigInt(amount_minor) * (type === 'deposit' ? 1n : -1n)
}

function sentenceOn(
  { balance, principal, portfolios }: BalancePlace,
  moved: bigint,
  { portfolios: all }: Ledger,
): string {
  const { external_id, pool_id, portfolio_id } = balance
  const known = portfolios[0] ?? all.find((one) => one.pool_id === pool_id)
  const words = (minor: bigint) =>
    known ? `${amountInWords(minor, known.token_decimals)} ${known.token_symbol}` : `${minor} minor units`
  const whose = `${shorten(external_id, 40)}'s balance in ${shorten(portfolio_id ?? pool_id ?? '', 60)}`
  const is = principal === undefined ? 'is not in your books' : `is ${words(principal)} in your books`
  return `${whose} ${is}, and the transfers of this run come to ${words(moved)}.`
}
