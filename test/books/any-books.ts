import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Books, BooksTransfer } from '../../src/books/books.ts'
import { compareBooks } from '../../src/books/compare-books.ts'
import type { LedgerPortfolio } from '../../src/oracle/facts.ts'
import {
  balancesOf,
  factsOf,
  isDone,
  type Order,
  order,
  orders,
  PORTFOLIOS,
  rightRows,
  rowsOf,
  stateOf,
} from './any-orders.ts'
import { countsOf, fewestFindings, possibleSums } from './fewest-findings.ts'

/**
 * An open row that stands for nothing beside a refusal without a row, equal to it, cannot be told from an order that was refused and is still
 * open: an app either deletes what has failed, or has orders that were never sent.
 */
const rightOrders = fc.record({ all: orders, deletes: fc.boolean() }).map(({ all, deletes }) =>
  all.map((one) => ({
    ...one,
    deleted: one.deleted && (deletes || one.fate !== 'refused'),
    undecided: one.undecided && !(deletes && one.fate === 'unsent'),
  })),
)

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

/** The same orders, of which an app knows everything: no row may stand for another order. */
const decided = (orders: readonly Order[]) =>
  orders.map((one) => ({
    ...one,
    fate: one.fate === 'under_way' ? ('lost' as const) : one.fate,
    ...{ undecided: false, deleted: false },
  }))

/** Changes of a row that may make books wrong or not, since it may stand for another order afterwards. */
const anyChange = fc.record({
  state: fc.constantFrom('as it is', 'done', 'open', 'failed'),
  amount: fc.constantFrom('as it is', 'as it is', '1', '2'),
  there: fc.constantFrom(1, 1, 1, 1, 0, 2),
})

/** Orders, and books of at most six rows that are right or not. */
const anyBooks = fc
  .tuple(fc.array(order, { maxLength: 6 }), fc.array(anyChange, { minLength: 6, maxLength: 6 }))
  .map(([given, how]) => {
    // What is under way under the key of a row is not judged, whatever the row says.
    const all = given.map((one) => (one.fate === 'under_way' ? { ...one, named: 'nothing' as const } : one))
    const rows = rightRows(all).flatMap((row, i): BooksTransfer[] => {
      const { state = 'as it is', amount = 'as it is', there = 1 } = how[i] ?? {}
      const { idempotency_key: _, tx_hash: __, ...second } = row
      const changed = {
        ...(state !== 'as it is' && { state: state as BooksTransfer['state'] }),
        ...(amount !== 'as it is' && { amount_minor: amount }),
      }
      return [{ ...row, ...changed }, second].slice(0, there)
    })
    return { all, rows: rows.slice(0, 6) }
  })

/** Compares random books with random ledgers: five thousand, so many times. */
export function comparesAnyBooks(times: number): void {
  test('books that have what the ledger has are right, in any order', () => {
    fc.assert(
      fc.property(rightOrders, (all) => {
        // Told nothing, an app finds out by other means, or keeps it open; what is open may be in a balance or not.
        const counts = (one: Order) => (stateOf(one) === 'open' ? one.counted : isDone(one))
        const books: Books = { form: 1, transfers: rightRows(all), balances: balancesOf(all, counts) }
        expect(compareBooks(books, factsOf(all))).toEqual([])
        const moved: Books = { form: 1, balances: balancesOf(all, isDone) }
        expect(compareBooks(moved, factsOf(all))).toEqual([])
      }),
      { numRuns: 1000 * times },
    )
  })

  test.each(Object.entries(CHANGES))('one transfer that was carried out and told %s is found', (name, change) => {
    fc.assert(
      fc.property(orders, order, fc.nat(), (others, one, at) => {
        // An open order, and one without a key, may stand for any other of its kind.
        const named = name === 'is still open' ? { named: 'key' as const } : {}
        const all = decided([...others, { ...one, fate: 'told' }]).map((each) => ({ ...each, ...named }))
        const rows = rowsOf(all)
        const told = rows.filter(({ of }) => of.fate === 'told')
        const chosen = told[at % told.length]
        const changed = rows.flatMap((each) => (each === chosen ? change(each.row) : [each.row]))
        const findings = compareBooks({ form: 1, transfers: changed }, factsOf(all))
        expect(findings.length).toBeGreaterThan(0)
      }),
      { numRuns: 200 * times },
    )
  })

  test('one order that was not carried out and is done in the books is found', () => {
    fc.assert(
      fc.property(orders, order, fc.constantFrom('refused' as const, 'lost' as const), (others, one, fate) => {
        const all = decided([...others, { ...one, fate }])
        const last = all.at(-1)
        const changed = rowsOf(all).map(({ row, of }) => (of === last ? { ...row, state: 'done' as const } : row))
        expect(compareBooks({ form: 1, transfers: changed }, factsOf(all)).map(({ verdict }) => verdict)).toContain(
          'wrong',
        )
      }),
      { numRuns: 200 * times },
    )
  })

  test('one balance that is off by anything is found', () => {
    fc.assert(
      fc.property(orders, fc.nat(3), fc.integer({ min: 1, max: 5 }), (all, at, by) => {
        const settled = decided(all)
        const balances = balancesOf(settled, isDone).map((one, i) =>
          i === at ? { ...one, principal_minor: String(Number(one.principal_minor) + by) } : one,
        )
        expect(compareBooks({ form: 1, balances }, factsOf(settled))).toHaveLength(1)
      }),
      { numRuns: 200 * times },
    )
  })

  test('no other pairing of rows and transfers makes fewer findings', () => {
    fc.assert(
      fc.property(anyBooks, ({ all, rows }) => {
        const facts = factsOf(all)
        const { refused, ...found } = countsOf(compareBooks({ form: 1, transfers: rows }, facts))
        const { refused: most, ...fewest } = fewestFindings(rows, facts)
        expect(found).toEqual(fewest)
        expect(refused).toBeLessThanOrEqual(most)
      }),
      { numRuns: 1000 * times },
    )
  })

  test('a balance is wrong if no pairing explains it, and never otherwise', () => {
    fc.assert(
      fc.property(anyBooks, fc.nat(2), fc.integer({ min: -3, max: 3 }), ({ all, rows }, at, by) => {
        const settled = all.map((one) => (one.fate === 'under_way' ? { ...one, fate: 'lost' as const } : one))
        const facts = factsOf(settled)
        const place = PORTFOLIOS[at] as LedgerPortfolio
        const balances = balancesOf(settled, isDone).map((one, i) =>
          i === at ? { ...one, principal_minor: String(Number(one.principal_minor) + by) } : one,
        )
        const findings = compareBooks({ form: 1, transfers: rows, balances }, facts)
        const isFound = findings.some(({ sentence }) => sentence.includes(`balance in ${place.portfolio_id} `))
        const isExplained = possibleSums(rows, facts, place).has(Number(balances[at]?.principal_minor))
        // Open rows that are not equal may stand for the same transfer, and are not compared with each other.
        const isSure = rows.filter(({ state }) => state === 'open').length < 2
        if (isExplained || isSure) expect(isFound).toBe(!isExplained)
      }),
      { numRuns: 1000 * times },
    )
  })
}
