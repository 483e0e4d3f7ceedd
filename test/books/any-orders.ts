import fc from 'fast-check'
import type { BooksBalance, BooksTransfer } from '../../src/books/books.ts'
import type { Ledger, LedgerPortfolio } from '../../src/oracle/facts.ts'
import { booked, LOST, PORTFOLIO, transfer } from '../oracle/story.ts'
import { evidenceOf } from '../verdict/evidence.ts'

const [first, second, elsewhere, others] = [
  PORTFOLIO,
  { ...PORTFOLIO, portfolio_id: 'jar_2' },
  { ...PORTFOLIO, portfolio_id: 'jar_3', pool_id: 'vault-usdc' },
  { ...PORTFOLIO, portfolio_id: 'jar_4', external_id: 'bob' },
]
export const PORTFOLIOS: LedgerPortfolio[] = [first, second, elsewhere, others]

/**
 * What became of an order. `resent`: nothing came of its key, and it was carried out under another one, untold; `unsent`: it never left the
 * app.
 */
const FATES = ['told', 'untold', 'resent', 'refused', 'lost', 'under_way', 'unsent'] as const

/** One order of an app, and how its books have it: so few places and amounts that many are equal. */
export const order = fc.record({
  portfolio: fc.constantFrom(first, first, first, second, second, elsewhere, others),
  type: fc.constantFrom('deposit' as const, 'deposit' as const, 'deposit' as const, 'withdraw' as const),
  asked: fc.constantFrom('1', '1', '1', '2', '3'),
  /** Of a withdrawal: a full one carries out another amount. */
  carried_out: fc.constantFrom('1', '2', 'as asked'),
  fate: fc.constantFrom(...FATES),
  named: fc.constantFrom('key' as const, 'hash' as const, ...Array(4).fill('nothing' as const)),
  place: fc.constantFrom('pool' as const, 'portfolio' as const),
  tenant: fc.boolean(),
  /** True if the row has the amount that was carried out. */
  has_carried_out: fc.boolean(),
  /** True if the app does not know yet what became of it. */
  undecided: fc.boolean(),
  /** True if it is in the balance although it is open. */
  counted: fc.boolean(),
  /** True if the app deletes it once it knows that nothing came of it. */
  deleted: fc.boolean(),
  /** Where its row is among the others. */
  rank: fc.nat(1000),
})
export type Order = typeof order extends fc.Arbitrary<infer T> ? T : never

export const orders = fc.array(order, { maxLength: 8 })

const ANSWERS = { told: {}, refused: { response: { status: 422, code: 'transaction_reverted' } } }

export const isDone = ({ fate }: Order) => fate === 'told' || fate === 'untold' || fate === 'resent'

export function movedBy({ type, asked, carried_out }: Order): string {
  return type === 'deposit' || carried_out === 'as asked' ? asked : carried_out
}

/** Key of the transfer that came of an order; that of its first request is `k…`. */
const keyOf = ({ fate }: Order, i: number) => (fate === 'resent' ? `r${i}` : `k${i}`)

export function factsOf(orders: readonly Order[]) {
  const exchanges = orders.flatMap((one, i) => {
    const { portfolio, type, asked, fate } = one
    const keys = fate === 'unsent' ? [] : fate === 'resent' ? [`k${i}`, keyOf(one, i)] : [`k${i}`]
    return keys.map((key, later) => ({
      ...transfer({
        ...{ key, at: i * 100 + later * 50, operation: type, amount: asked, portfolio: portfolio.portfolio_id },
        ...(fate === 'told' || fate === 'refused' ? ANSWERS[fate] : LOST),
      }),
      external_id: portfolio.external_id,
    }))
  })
  const bookedIf = (isIn: (one: Order) => boolean) =>
    orders.flatMap((one, i) => {
      const { external_id, portfolio_id } = one.portfolio
      const parts = { type: one.type, amount_minor: movedBy(one), external_id, portfolio_id }
      return isIn(one) ? [booked(keyOf(one, i), parts)] : []
    })
  const under_way = bookedIf(({ fate }) => fate === 'under_way')
  const ledger: Ledger = { transfers: bookedIf(isDone), under_way, portfolios: PORTFOLIOS }
  return evidenceOf(exchanges, { ledger })
}

/** What a right app has of it: an order that it was told nothing of is open, or is found out by other means. */
export function stateOf({ fate, undecided }: Order): BooksTransfer['state'] {
  if (fate === 'told') return 'done'
  if (fate === 'refused') return 'failed'
  if (fate === 'under_way' || undecided) return 'open'
  return fate === 'untold' || fate === 'resent' ? 'done' : 'failed'
}

/** The rows of right books, in any order. */
export function rightRows(orders: readonly Order[]): BooksTransfer[] {
  return rowsOf(orders).map(({ row }) => row)
}

/** The same, each with its order. */
export function rowsOf(orders: readonly Order[]): { row: BooksTransfer; of: Order }[] {
  const kept = orders.flatMap((one, i) => (one.deleted && stateOf(one) === 'failed' ? [] : [{ of: one, i }]))
  const sorted = kept.sort((a, b) => a.of.rank - b.of.rank)
  return sorted.map(({ of, i }) => {
    const { portfolio, type, asked, named, place, tenant, has_carried_out: amountMoved } = of
    const row: BooksTransfer = {
      ...(tenant && { tenant: portfolio.tenant }),
      external_id: portfolio.external_id,
      ...(place === 'pool' ? { pool_id: portfolio.pool_id } : { portfolio_id: portfolio.portfolio_id }),
      // The row of an order that was sent again under another key is found by its key only once it is done.
      ...(named === 'key' && (of.fate !== 'resent' || !of.undecided) && { idempotency_key: `K${i}` }),
      ...(named === 'hash' && isDone(of) && { tx_hash: `0x${keyOf(of, i).toUpperCase()}` }),
      ...{ type, amount_minor: isDone(of) && amountMoved ? movedBy(of) : asked, state: stateOf(of) },
    }
    return { row, of }
  })
}

/** Balances of each portfolio. */
export function balancesOf(orders: readonly Order[], counts: (one: Order) => boolean): BooksBalance[] {
  return PORTFOLIOS.map(({ external_id, portfolio_id }) => {
    const own = orders.filter((one) => one.portfolio.portfolio_id === portfolio_id && counts(one))
    const amountOf = (one: Order) => Number(isDone(one) ? movedBy(one) : one.asked)
    const sum = own.reduce((all, one) => all + amountOf(one) * (one.type === 'deposit' ? 1 : -1), 0)
    return { external_id, portfolio_id, principal_minor: String(sum) }
  })
}
