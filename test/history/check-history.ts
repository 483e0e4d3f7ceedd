import { grouped } from '../../src/support/maps.ts'
import {
  type AskedTransfer,
  type BalanceRead,
  byKey,
  type ListedTransaction,
  type ListRead,
  type Observation,
  type TransferAttempt,
} from './recorded-history.ts'

/** Something that no sequence of transfers and reads, one at a time, explains. */
export interface Violation {
  portfolio: string
  rule: Rule
  /** A sentence with the requests and the transactions that it is about. */
  message: string
}

/**
 * - `lost`: a transaction that was answered or shown is not in the last list
 * - `doubled`: a key, or a transaction, stands in it twice
 * - `unasked`: it has a transaction that nobody asked for
 * - `refused`: it has one that was refused
 * - `altered`: an answer or a list shows a transaction as another one than it is
 * - `sum`: a principal that is not the sum of any number of transactions from the first one on
 * - `stale`: a read that does not show what was answered before it began
 * - `back`: a read that does not show what another one showed before it began
 * - `early`: a transfer that stands before what was answered or shown before it was asked for
 * - `open`: the history cannot be judged: no whole list was read after the last answered transfer
 */
type Rule = 'lost' | 'doubled' | 'unasked' | 'refused' | 'altered' | 'sum' | 'stale' | 'back' | 'early' | 'open'

/**
 * Checks that the transfers and reads of each portfolio are linearizable: that they could have happened one at a time, each at some moment
 * between its request and its answer. A transfer without an answer may have happened, at any later moment, or not at all; one key counts
 * once. A whole list must have been read after the last answered transfer, since the order of the transfers is taken from it. That makes
 * the check exact and fast: a read names the number of transactions before it, and it is enough that of two requests, one of which was
 * answered before the other was sent, the later one does not stand before the earlier one.
 */
export function checkHistory(history: readonly Observation[]): Violation[] {
  const portfolios = grouped(history, ({ portfolio }) => portfolio)
  return [...portfolios].flatMap(([portfolio, observed]) =>
    new PortfolioCheck(
      portfolio,
      observed.filter(isTransfer),
      observed.filter(isList),
      observed.filter(isBalance),
    ).all(),
  )
}

const isTransfer = (one: Observation): one is TransferAttempt => one.kind === 'transfer'
const isList = (one: Observation): one is ListRead => one.kind === 'list'
const isBalance = (one: Observation): one is BalanceRead => one.kind === 'balance'

/** A request with the places in the order at which it may stand: transaction number n at 2n, a read after it at 2n + 1. */
interface Point {
  what: string
  kind: 'transfer' | 'read'
  begin: number
  end: number
  /** Ascending, at least one. */
  places: readonly number[]
}

class PortfolioCheck {
  readonly #portfolio: string
  readonly #asked: readonly AskedTransfer[]
  readonly #lists: readonly ListRead[]
  readonly #balances: readonly BalanceRead[]
  /** All transactions, oldest first. */
  readonly #order: readonly ListedTransaction[]
  /** When the list was asked for that has them all. */
  readonly #known: number
  /** Numbers of the transactions, from 1, by id. */
  readonly #numbers: ReadonlyMap<string, number>
  /** Principal after so many transactions. */
  readonly #principals: readonly bigint[]
  readonly #violations: Violation[] = []

  constructor(
    portfolio: string,
    attempts: readonly TransferAttempt[],
    lists: readonly ListRead[],
    balances: readonly BalanceRead[],
  ) {
    this.#portfolio = portfolio
    this.#asked = byKey(attempts)
    this.#lists = lists
    this.#balances = balances
    const whole = lists.filter((list) => list.whole)
    const last = whole.toSorted((a, b) => a.transactions.length - b.transactions.length || a.begin - b.begin).at(-1)
    this.#order = last?.transactions.toReversed() ?? []
    this.#known = last?.begin ?? Number.NEGATIVE_INFINITY
    this.#numbers = new Map(this.#order.map(({ id }, at) => [id, at + 1]))
    this.#principals = this.#sums()
  }

  all(): Violation[] {
    const points = [...this.#transfers(), ...this.#reads()]
    this.#inOrder(points)
    return this.#violations
  }

  #violated(rule: Rule, message: string): void {
    this.#violations.push({ portfolio: this.#portfolio, rule, message })
  }

  #sums(): bigint[] {
    const sums = [0n]
    for (const one of this.#order) {
      const before = sums.at(-1) ?? 0n
      const amount = BigInt(one.amount)
      const lowest = one.type === 'deposit' ? before + amount : before - amount
      const highest = one.type === 'deposit' ? before + amount : before
      const after = one.principal === undefined ? lowest : BigInt(one.principal)
      if (after < lowest || after > highest)
        this.#violated('sum', `${inWords(one)} leaves a principal of ${after}, though it was ${before} before`)
      sums.push(after)
    }
    return sums
  }

  /** Finds the transaction of each transfer. Returns those that were carried out. */
  #transfers(): Point[] {
    const own = new Map<number, AskedTransfer>()
    for (const asked of this.#asked) {
      const number = this.#answered(asked)
      if (number === undefined) continue
      const other = own.get(number)
      if (other)
        this.#violated('altered', `${requested(asked)} and ${requested(other)} were answered with one transaction`)
      own.set(number, asked)
    }
    const unanswered = grouped(
      this.#asked.filter(({ answers, refused }) => answers.length === 0 && refused === undefined),
      kindOf,
    )
    if (this.#numbers.size < this.#order.length)
      this.#violated('doubled', 'a transaction stands in the last list twice')
    for (const [at, transaction] of this.#order.entries()) {
      if (own.has(at + 1)) continue
      // The one that was asked for first: it may stand wherever a later one may.
      const asked = unanswered.get(kindOf(transaction))?.shift()
      if (asked) own.set(at + 1, asked)
      else this.#unexplained(transaction)
    }
    return [...own].map(([number, asked]) => ({
      ...{ what: requested(asked), kind: 'transfer', begin: asked.begin, end: asked.end },
      places: [2 * number],
    }))
  }

  /** Number of the transaction that answered a transfer. */
  #answered(asked: AskedTransfer): number | undefined {
    const [first] = asked.answers
    if (!first) return undefined
    const what = requested(asked)
    if (asked.refused !== undefined) this.#violated('altered', `${what} was carried out and refused: ${asked.refused}`)
    if (asked.answers.some(({ id, principal }) => id !== first.id || principal !== first.principal))
      this.#violated('altered', `${what} was answered in several ways: ${JSON.stringify(asked.answers)}`)
    const number = this.#numbers.get(first.id)
    const stored = number === undefined ? undefined : this.#order[number - 1]
    if (number === undefined || !stored) {
      if (asked.end < this.#known) this.#violated('lost', `${what} was answered with ${first.id}, which is not there`)
      else this.#violated('open', `${what} was answered, and no whole list was read afterwards`)
      return undefined
    }
    const principal = this.#principals[number]
    if (kindOf(stored) !== kindOf(asked) || (first.principal !== undefined && BigInt(first.principal) !== principal))
      this.#violated(
        'altered',
        `${what} was answered with ${JSON.stringify(first)}, which is stored as ${inWords(stored)} to ${principal}`,
      )
    return number
  }

  /** Says why a transaction is there that nobody has asked for and was not answered otherwise. */
  #unexplained(transaction: ListedTransaction): void {
    const alike = this.#asked.filter((asked) => kindOf(asked) === kindOf(transaction))
    const refused = alike.find((asked) => asked.refused !== undefined)
    if (refused) this.#violated('refused', `${requested(refused)} was refused, and is there as ${transaction.id}`)
    else if (alike[0])
      this.#violated('doubled', `${inWords(transaction)} is there although ${requested(alike[0])} is as well`)
    else this.#violated('unasked', `${inWords(transaction)} is there, and nobody asked for it`)
  }

  #reads(): Point[] {
    const points: Point[] = []
    for (const { begin, end, principal } of this.#balances) {
      const what = `the read of the principal ${principal}, asked for at ${begin}`
      const places = this.#principals.flatMap((sum, count) => (sum === BigInt(principal) ? [2 * count + 1] : []))
      if (places.length > 0) points.push({ what, kind: 'read', begin, end, places })
      else this.#violated('sum', `${what}, shows what was never there`)
    }
    for (const list of this.#lists) {
      const count = this.#countIn(list)
      const what = `the list of ${list.transactions.length} transactions, asked for at ${list.begin}`
      if (count !== undefined)
        points.push({ what, kind: 'read', begin: list.begin, end: list.end, places: [2 * count + 1] })
    }
    return points
  }

  /** Number of transactions when the list was made; undefined if it is not one of the order. */
  #countIn({ transactions, whole, begin }: ListRead): number | undefined {
    const [newest] = transactions
    const count = newest ? this.#numbers.get(newest.id) : 0
    const what = `the list asked for at ${begin}`
    if (newest && count === undefined) {
      this.#violated('lost', `${what} shows ${inWords(newest)}, which the last list does not have`)
      return undefined
    }
    for (const [at, shown] of transactions.entries()) {
      const stored = this.#order[(count ?? 0) - 1 - at]
      if (stored && shown.id === stored.id && kindOf(shown) === kindOf(stored) && shown.principal === stored.principal)
        continue
      const instead = stored ? `${inWords(stored)} stands in the last list` : 'there is nothing older in the last list'
      this.#violated('altered', `${what} shows ${inWords(shown)} where ${instead}`)
      return undefined
    }
    if (!whole || transactions.length === count) return count
    this.#violated('lost', `${what} is to have all transactions, and has ${transactions.length} of ${count}`)
    return undefined
  }

  /** Chooses for each request the first place that is not before any that was answered before it was sent. */
  #inOrder(points: readonly Point[]): void {
    const byEnd = points.toSorted((a, b) => a.end - b.end)
    const chosen = new Map<Point, number>()
    let floor = { place: Number.NEGATIVE_INFINITY, of: undefined as Point | undefined }
    let over = 0
    for (const point of points.toSorted((a, b) => a.begin - b.begin)) {
      for (let ended = byEnd[over]; ended && ended.end < point.begin; ended = byEnd[++over]) {
        const place = chosen.get(ended) ?? 0
        if (place > floor.place) floor = { place, of: ended }
      }
      const place = point.places.find((one) => one >= floor.place)
      chosen.set(point, place ?? point.places.at(-1) ?? 0)
      if (place !== undefined || !floor.of) continue
      const rule = point.kind === 'transfer' ? 'early' : floor.of.kind === 'transfer' ? 'stale' : 'back'
      this.#violated(
        rule,
        `${point.what}, stands at ${numberAt(point.places)}, behind ${floor.of.what}, at ${numberAt([floor.place])}`,
      )
    }
  }
}

function kindOf({ type, amount }: Pick<ListedTransaction, 'type' | 'amount'>): string {
  return `${type} ${BigInt(amount)}`
}

function requested({ key, begin, ...rest }: AskedTransfer): string {
  return `the ${kindOf(rest)} with the key ${key}, asked for at ${begin}`
}

function inWords({ id, ...rest }: ListedTransaction): string {
  return `${id} (${kindOf(rest)})`
}

/** Number of transactions up to a place. */
function numberAt(places: readonly number[]): string {
  return places.map((place) => Math.floor(place / 2)).join(' or ')
}
