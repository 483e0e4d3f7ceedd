import { grouped } from '../support/maps.ts'
import type { BooksTransfer } from './books.ts'
import { amountsOf, digitsOf, isKnown, isOf, isUnderWay, type LedgerSide, portfolioOf } from './ledger-side.ts'
import { shippedOn, TransportationProblem, type TransportRoad, type TransportStop } from './transportation-problem.ts'

/** Costs of a pairing: integers. */
export interface PairCosts {
  /** Cost of a row that stands for a side, less that of both alone; only what costs less than 0 is paired. */
  of(row: BooksTransfer, side: LedgerSide): number
  /** Differences below half of it do not count where choices are asked for. */
  grain: number
}

/** Sides for which a row may stand; undefined in it: it may stand for nothing. */
export type RowChoices = readonly (LedgerSide | undefined)[]

/**
 * Rows of the books paired with transfers and operations of the same end user, place, type and amount, each with at most one, so that the sum
 * of all costs is least. Equal ones are counted, and not tried one by one.
 */
export class AlikePairs {
  readonly pairs: readonly (readonly [row: BooksTransfer, side: LedgerSide])[]
  readonly #groups: ReadonlyMap<string, AlikeGroup>

  constructor(rows: readonly BooksTransfer[], sides: readonly LedgerSide[], costs: PairCosts) {
    const near = grouped(sides, ({ operation }) => groupName(operation))
    const groups = [...grouped(rows, groupName)]
    this.#groups = new Map(groups.map(([name, own]) => [name, new AlikeGroup(own, near.get(name) ?? [], costs)]))
    this.pairs = [...this.#groups.values()].flatMap(({ pairs }) => pairs)
  }

  /**
   * Returns everything that a row stands for in any pairing of the least cost. Equal rows have one list. Undefined for a row that was not to
   * be paired.
   */
  choicesOf(row: BooksTransfer): RowChoices | undefined {
    return this.#groups.get(groupName(row))?.choicesOf(row)
  }
}

function groupName({ external_id, type }: { external_id: string | null; type: string }): string {
  return JSON.stringify([external_id, type])
}

/** Equal rows, or equal sides. */
interface Kind<Item> {
  first: Item
  items: readonly Item[]
  /** Those that have not been paired. */
  waiting: IterableIterator<Item>
  stop: TransportStop
}

/** The rows and sides of one end user and type. */
class AlikeGroup {
  readonly pairs: (readonly [BooksTransfer, LedgerSide])[] = []
  readonly #problem = new TransportationProblem()
  readonly #kinds: ReadonlyMap<BooksTransfer, Kind<BooksTransfer>>
  readonly #targets = new Map<TransportRoad, Kind<LedgerSide>>()
  readonly #choices = new Map<Kind<BooksTransfer>, RowChoices>()
  readonly #grain: number

  constructor(rows: readonly BooksTransfer[], sides: readonly LedgerSide[], costs: PairCosts) {
    this.#grain = costs.grain
    const sources = kindsOf(rows, rowKind, (supply) => this.#problem.source(supply))
    const targets = kindsOf(sides, sideKindAmong(rows), (demand) => this.#problem.target(demand))
    const likely = likelyAmong(targets)
    for (const { first, stop } of sources) {
      for (const target of likely(first)) {
        const cost = isOf(first, target.first) ? costs.of(first, target.first) : 0
        if (cost < 0) this.#targets.set(this.#problem.lane(stop, target.stop, cost), target)
      }
    }
    this.#problem.solve()
    this.#kinds = new Map(sources.flatMap((kind) => kind.items.map((row) => [row, kind] as const)))
    for (const kind of sources) this.#pair(kind)
  }

  #pair({ stop, waiting }: Kind<BooksTransfer>): void {
    for (const lane of stop.roads) {
      const target = this.#targets.get(lane)
      for (let shipped = target ? shippedOn(lane) : 0; shipped > 0; shipped--) {
        const [row, side] = [waiting.next(), target?.waiting.next()]
        if (!row.done && side && !side.done) this.pairs.push([row.value, side.value])
      }
    }
  }

  choicesOf(row: BooksTransfer): RowChoices | undefined {
    const kind = this.#kinds.get(row)
    if (!kind) return undefined
    const known = this.#choices.get(kind)
    if (known) return known
    const { lanes, rest } = this.#problem.everUsed(kind.stop, this.#grain)
    const sides = lanes.flatMap((lane) => this.#targets.get(lane)?.items ?? [])
    const choices = rest ? [...sides, undefined] : sides
    this.#choices.set(kind, choices)
    return choices
  }
}

function kindsOf<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  stopFor: (count: number) => TransportStop,
): Kind<Item>[] {
  return [...grouped(items, nameOf).values()].flatMap((alike) => {
    const [first] = alike
    return first === undefined ? [] : [{ first, items: alike, waiting: alike.values(), stop: stopFor(alike.length) }]
  })
}

function rowKind({ tenant, portfolio_id, pool_id, amount_minor, state }: BooksTransfer): string {
  const place = portfolio_id === undefined ? [pool_id] : [null, portfolio_id]
  return JSON.stringify([tenant ?? null, digitsOf(amount_minor), state, ...place])
}

/** Portfolios that no row names are one place in their pool. */
function sideKindAmong(rows: readonly BooksTransfer[]): (side: LedgerSide) => string {
  const named = new Set(rows.flatMap(({ portfolio_id }) => portfolio_id ?? []))
  return (side) => {
    const { operation, transfer, pool_id } = side
    const portfolio = portfolioOf(side)
    const place = [pool_id, portfolio === null || named.has(portfolio) ? portfolio : '']
    const amounts = [operation.amount_minor, transfer?.amount_minor ?? null].map((one) => one && digitsOf(one))
    return JSON.stringify([
      operation.tenant,
      ...place,
      ...amounts,
      isUnderWay(side),
      transfer !== undefined,
      isKnown(side),
    ])
  }
}

/** Finds the sides with the amount and the place of a row, or without one. */
function likelyAmong(targets: readonly Kind<LedgerSide>[]): (row: BooksTransfer) => Kind<LedgerSide>[] {
  const named = targets.flatMap((target) => namesOfSide(target.first).map((name) => ({ name, target })))
  const byName = grouped(named, ({ name }) => name)
  return (row) => namesOfRow(row).flatMap((name) => byName.get(name)?.map(({ target }) => target) ?? [])
}

function namesOfSide(side: LedgerSide): string[] {
  const amounts = amountsOf(side)
  const places = [
    ['pool', side.pool_id],
    ['portfolio', portfolioOf(side)],
  ]
  return (amounts.length > 0 ? amounts : [null]).flatMap((amount) =>
    places.map((place) => JSON.stringify([amount, ...place])),
  )
}

function namesOfRow({ amount_minor, pool_id, portfolio_id }: BooksTransfer): string[] {
  const place = portfolio_id === undefined ? ['pool', pool_id] : ['portfolio', portfolio_id]
  return [digitsOf(amount_minor), null].flatMap((amount) =>
    [place, [place[0], null]].map((one) => JSON.stringify([amount, ...one])),
  )
}
