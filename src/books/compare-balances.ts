import type { Ledger, LedgerPortfolio } from '../oracle/facts.ts'
import { shorten } from '../support/foreign-text.ts'
import { grouped } from '../support/maps.ts'
import { amountInWords } from '../support/quantities.ts'
import type { RowChoices } from './alike-pairs.ts'
import type { BooksBalance, BooksFinding, BooksTransfer } from './books.ts'
import { isUnderWay, type LedgerSide } from './ledger-side.ts'
import type { BooksPair, BooksPairing } from './pair-rows.ts'

/** The other side of balances: transfers of this run, and the rows of the same books. */
interface BalanceGround {
  pairing: BooksPairing
  sides: readonly LedgerSide[]
  ledger: Ledger
}

/** Maximum number of sums to try for one balance with open rows: where there are more, nothing is said of it. */
const MOST_SUMS = 1_000_000

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
export function compareBalances(
  balances: readonly BooksBalance[],
  { pairing, sides, ledger }: BalanceGround,
): BooksFinding[] {
  const open = grouped(pairing.pairs, ({ row }) => (row.state === 'open' ? row.external_id : undefined))
  const moved = grouped(sides, ({ operation }) => operation.external_id)
  return placesOf(balances, ledger).flatMap((place) => {
    const { external_id } = place.balance
    const own = ownSides(place, moved.get(external_id) ?? [])
    if ([...own].some(isUnderWay)) return []
    const transfers = [...own].flatMap(({ transfer }) => transfer ?? [])
    const all = transfers.reduce((sum, transfer) => sum + signed(transfer), 0n)
    const undecided = (open.get(external_id) ?? []).filter(({ row }) => isOpenAt(row, place))
    const sums = sumsOf(all, [...grouped(undecided, pairing.choicesOf)], own)
    if (!sums || sums.has(place.principal ?? 0n)) return []
    return [offBy(place, all, own, ledger)]
  })
}

function placesOf(balances: readonly BooksBalance[], { portfolios, transfers }: Ledger): BalancePlace[] {
  const named = new Set(balances.flatMap(({ portfolio_id }) => portfolio_id ?? []))
  const owned = grouped(portfolios, ({ external_id }) => external_id)
  const covered = balances.map(({ principal_minor, ...balance }) => ({
    balance,
    principal: BigInt(principal_minor),
    portfolios: (owned.get(balance.external_id) ?? []).filter((one) => isCoveredBy(one, balance, named)),
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
  { tenant, portfolio_id, pool_id }: LedgerPortfolio,
  balance: BalancePlace['balance'],
  named: ReadonlySet<string>,
): boolean {
  if (balance.tenant !== undefined && balance.tenant !== tenant) return false
  if (balance.portfolio_id !== undefined) return balance.portfolio_id === portfolio_id
  return pool_id === balance.pool_id && !named.has(portfolio_id)
}

function ownSides(place: BalancePlace, sides: readonly LedgerSide[]): Set<LedgerSide> {
  const ids = new Set(place.portfolios.map(({ portfolio_id }) => portfolio_id))
  const pool = poolOf(place)
  const own = sides.filter(({ transfer, pool_id }) => (transfer ? ids.has(transfer.portfolio_id) : pool_id === pool))
  return new Set(own)
}

/**
 * Every sum of a place with open rows, each of which may be in it or not; undefined if there are too many. Equal rows have the same choices: no
 * more of them stand for transfers of the place than there are, and no more for transfers elsewhere, which may be in the sum all the same.
 */
function sumsOf(
  all: bigint,
  open: readonly [choices: RowChoices, pairs: readonly BooksPair[]][],
  own: ReadonlySet<LedgerSide>,
): Set<bigint> | undefined {
  let sums = new Set([all])
  for (const [choices, pairs] of open) {
    const here = choices.flatMap((side) => (side?.transfer && own.has(side) ? side.transfer : []))
    const others = choices.flatMap((side) => (side && own.has(side) && side.transfer ? [] : [side?.transfer]))
    const elsewhere = others.includes(undefined) ? pairs.length : others.length
    for (const [i, { row }] of pairs.entries()) {
      const steps = new Set([0n])
      if (i < here.length) for (const one of here) steps.add(-signed(one)).add(signed(row) - signed(one))
      if (i >= pairs.length - elsewhere) for (const one of others) steps.add(signed(one ?? row)).add(signed(row))
      if (sums.size * steps.size > MOST_SUMS) return undefined
      sums = new Set([...sums].flatMap((sum) => [...steps].map((step) => sum + step)))
    }
  }
  return sums
}

function offBy(place: BalancePlace, all: bigint, own: ReadonlySet<LedgerSide>, ledger: Ledger): BooksFinding {
  const { principal = 0n, portfolios } = place
  const [portfolio] = portfolios
  return {
    verdict: 'wrong',
    sentence: sentenceOn(place, all, ledger),
    operations: [...new Set([...own].map(({ operation }) => operation))],
    ...(portfolio && all > principal && { missing: { ...portfolio, amount_minor: String(all - principal) } }),
  }
}

function isOpenAt(row: BooksTransfer, place: BalancePlace): boolean {
  const { tenant } = place.balance
  if (tenant !== undefined && row.tenant !== undefined && row.tenant !== tenant) return false
  if (row.portfolio_id === undefined) return row.pool_id === poolOf(place)
  return place.portfolios.some(({ portfolio_id }) => portfolio_id === row.portfolio_id)
}

function poolOf({ balance, portfolios }: BalancePlace): string | undefined {
  return portfolios[0]?.pool_id ?? balance.pool_id
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
