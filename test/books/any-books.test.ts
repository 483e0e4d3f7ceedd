import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Books, BooksBalance, BooksTransfer } from '../../src/books/books.ts'
import { compareBooks } from '../../src/books/compare-books.ts'
import type { Ledger, LedgerPortfolio } from '../../src/oracle/facts.ts'
import { booked, LOST, PORTFOLIO, transfer } from '../oracle/story.ts'
import { evidenceOf } from '../verdict/evidence.ts'

const PORTFOLIOS: LedgerPortfolio[] = [
  PORTFOLIO,
  { ...PORTFOLIO, portfolio_id: 'jar_2' },
  { ...PORTFOLIO, portfolio_id: 'jar_3', pool_id: 'vault-usdc' },
  { ...PORTFOLIO, portfolio_id: 'jar_4', external_id: 'bob' },
]

/** One order: small amounts, so that many are equal. */
const order = fc.record({
  portfolio: fc.constantFrom(...PORTFOLIOS),
  type: fc.constantFrom('deposit' as const, 'withdraw' as const),
  amount: fc.integer({ min: 1, max: 3 }).map(String),
  fate: fc.constantFrom('told' as const, 'untold' as const, 'refused' as const, 'lost' as const),
  named: fc.constantFrom('key' as const, 'hash' as const, 'nothing' as const),
  place: fc.constantFrom('pool' as const, 'portfolio' as const),
  undecided: fc.boolean(),
})
type Order = typeof order extends fc.Arbitrary<infer T> ? T : never

const ANSWERS = {
  told: {},
  untold: LOST,
  refused: { response: { status: 422, code: 'transaction_reverted' } },
  lost: LOST,
}

const isDone = ({ fate }: Order) => fate === 'told' || fate === 'untold'

function factsOf(orders: readonly Order[]) {
  const exchanges = orders.map(({ portfolio, type, amount, fate }, i) => ({
    ...transfer({
      key: `k${i}`,
      at: i * 50,
      operation: type,
      amount,
      portfolio: portfolio.portfolio_id,
      ...ANSWERS[fate],
    }),
    external_id: portfolio.external_id,
  }))
  const transfers = orders.flatMap(({ portfolio, type, amount, ...rest }, i) => {
    const { external_id, portfolio_id } = portfolio
    return isDone({ portfolio, type, amount, ...rest })
      ? [booked(`k${i}`, { type, amount_minor: amount, external_id, portfolio_id })]
      : []
  })
  const ledger: Ledger = { transfers, under_way: [], portfolios: PORTFOLIOS }
  return evidenceOf(exchanges, { ledger })
}

/** What a right app has of it: an order that it was told nothing of is open, or is found out by other means. */
function stateOf({ fate, undecided }: Order): BooksTransfer['state'] {
  if (fate === 'told') return 'done'
  if (fate === 'refused') return 'failed'
  if (undecided) return 'open'
  return fate === 'untold' ? 'done' : 'failed'
}

function rightRows(orders: readonly Order[]): BooksTransfer[] {
  return orders.map((one, i) => {
    const { portfolio, type, amount, named, place } = one
    return {
      external_id: portfolio.external_id,
      ...(place === 'pool' ? { pool_id: portfolio.pool_id } : { portfolio_id: portfolio.portfolio_id }),
      ...(named === 'key' && { idempotency_key: `K${i}` }),
      ...(named === 'hash' && isDone(one) && { tx_hash: `0xK${i}` }),
      ...{ type, amount_minor: amount, state: stateOf(one) },
    }
  })
}

function rightBalances(orders: readonly Order[], counts: (one: Order) => boolean): BooksBalance[] {
  return PORTFOLIOS.map(({ external_id, portfolio_id }) => {
    const own = orders.filter((one) => one.portfolio.portfolio_id === portfolio_id && counts(one))
    const sum = own.reduce((all, { type, amount }) => all + Number(amount) * (type === 'deposit' ? 1 : -1), 0)
    return { external_id, portfolio_id, principal_minor: String(sum) }
  })
}

const orders = fc.array(order, { maxLength: 12 })
const shuffled = <T>(items: readonly T[], by: number) => items.toSorted((a, b) => (hash(a, by) < hash(b, by) ? -1 : 1))
const hash = (item: unknown, by: number) => JSON.stringify(item).length * 7919 * by

test('books that have what the ledger has are right, in any order', () => {
  fc.assert(
    fc.property(orders, fc.integer({ min: -9, max: 9 }), (all, by) => {
      // Told nothing, an app finds out by other means, or keeps it open.
      const counts = (one: Order) => isDone(one) && stateOf(one) !== 'open'
      const books: Books = { form: 1, transfers: shuffled(rightRows(all), by), balances: rightBalances(all, counts) }
      expect(compareBooks(books, factsOf(all))).toEqual([])
      const moved: Books = { form: 1, balances: rightBalances(all, isDone) }
      expect(compareBooks(moved, factsOf(all))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

/** One change that makes the books wrong, whatever else is in them; those of amounts go beyond all others, since equal rows are alike. */
const CHANGES: Record<string, (row: BooksTransfer) => BooksTransfer[]> = {
  'left out': () => [],
  'there twice': ({ idempotency_key, tx_hash, ...row }) => [
    { ...row, ...(idempotency_key && { idempotency_key }) },
    row,
  ],
  'has failed': (row) => [{ ...row, state: 'failed' }],
  'is of another amount': (row) => [{ ...row, amount_minor: '4' }],
  'is of somebody else': (row) => [{ ...row, external_id: 'carol' }],
  'is of another type': (row) => [{ ...row, type: row.type === 'deposit' ? 'withdraw' : 'deposit' }],
  'is in another pool': ({ portfolio_id: _, ...row }) => [{ ...row, pool_id: 'lido' }],
  'is still open': (row) => [{ ...row, state: 'open' }],
}

test.each(Object.entries(CHANGES))('one transfer that was carried out and told %s is found', (name, change) => {
  fc.assert(
    fc.property(orders, order, fc.nat(), (others, one, at) => {
      // An open order, and one without a key, may stand for any other of its kind.
      const named = name === 'is still open' ? { named: 'key' as const } : {}
      const all = [...others, { ...one, fate: 'told' as const }].map((each) => ({
        ...each,
        undecided: false,
        ...named,
      }))
      const rows = rightRows(all)
      const told = all.flatMap(({ fate }, i) => (fate === 'told' ? [i] : []))
      const chosen = told[at % told.length]
      const changed = rows.flatMap((row, i) => (i === chosen ? change(row) : [row]))
      const findings = compareBooks({ form: 1, transfers: changed }, factsOf(all))
      expect(findings.length).toBeGreaterThan(0)
    }),
    { numRuns: 200 },
  )
})

test('one order that was not carried out and is done in the books is found', () => {
  fc.assert(
    fc.property(orders, order, fc.constantFrom('refused' as const, 'lost' as const), (others, one, fate) => {
      const all = [...others, { ...one, fate }].map((each) => ({ ...each, undecided: false }))
      const rows = rightRows(all)
      const last = rows.length - 1
      const changed = rows.map((row, i) => (i === last ? { ...row, state: 'done' as const } : row))
      expect(compareBooks({ form: 1, transfers: changed }, factsOf(all)).map(({ verdict }) => verdict)).toContain(
        'wrong',
      )
    }),
    { numRuns: 200 },
  )
})

test('one balance that is off by anything is found', () => {
  fc.assert(
    fc.property(orders, fc.nat(3), fc.integer({ min: 1, max: 5 }), (all, at, by) => {
      const balances = rightBalances(all, isDone).map((one, i) =>
        i === at ? { ...one, principal_minor: String(Number(one.principal_minor) + by) } : one,
      )
      expect(compareBooks({ form: 1, balances }, factsOf(all))).toHaveLength(1)
    }),
    { numRuns: 200 },
  )
})
