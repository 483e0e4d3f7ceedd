import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import {
  CURSOR_LIFETIME,
  CursorCodec,
  DEFAULT_LIMIT,
  list,
  type Page,
  type PageParameters,
} from '../../src/domain/pagination.ts'
import { SHAPES, type Store, type Write } from '../../src/domain/ports/store.ts'
import type { Portfolio, Transaction } from '../../src/domain/records.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { moment, portfolio, transaction } from '../store/samples.ts'

type Listed = 'portfolios' | 'transactions'
type Row = Portfolio | Transaction

const clock = new SandboxClock()
clock.freeze()
const cursors = new CursorCodec({ secret: new SeededRandom(1).bytes('cursor-secret', 32), clock })

const idOf = (row: Row) => ('portfolio_id' in row && !('id' in row) ? row.portfolio_id : (row as Transaction).id)
const at = (n: number) => `id_${1000 + n}`

/** A list of rows that sort by number, each number at most once. */
class Rows {
  readonly store: Store
  readonly collection: Listed

  constructor(store: Store, collection: Listed) {
    this.store = store
    this.collection = collection
  }

  static async of(collection: Listed, numbers: readonly number[]): Promise<Rows> {
    const rows = new Rows(await createStore(), collection)
    await rows.add(numbers)
    return rows
  }

  async add(numbers: readonly number[]): Promise<void> {
    const put = (n: number) =>
      this.collection === 'portfolios'
        ? portfolio(at(n), { created_at: moment(n >> 2) })
        : transaction(at(n), { created_at: moment(n >> 2) })
    await this.store.commit(numbers.map((n) => ({ collection: this.collection, put: put(n) }) as Write))
  }

  async remove(numbers: readonly number[]): Promise<void> {
    await this.store.commit(numbers.map((n) => ({ collection: this.collection, remove: at(n) })))
  }

  get(parameters: PageParameters = {}): Promise<Page<Row>> {
    const { collection } = this
    const request = { collection, scope: 'alice', cursor_scope: `${collection}/usr_1`, query: parameters }
    return list<Listed>({ store: this.store, cursors }, request)
  }

  /** Ids of these numbers in list order. */
  inOrder(numbers: readonly number[]): string[] {
    const ids = [...new Set(numbers)].map(at).sort()
    return SHAPES[this.collection].list?.order === 'asc' ? ids : ids.reverse()
  }
}

const ids = (page: Page<Row>) => page.data.map(idOf)
const cursor = (text: string | null) => text ?? expect.fail('there is no cursor')

function expectEnvelope(page: Page<Row>): void {
  expect(page.has_more).toBe(page.next_cursor !== null)
  expect(Object.keys(page)).toEqual(['data', 'has_more', 'next_cursor', 'prev_cursor'])
}

/** Walks from a page to the end; `between` runs before each step. Gives every request made and the page it got. */
async function walk(
  rows: Rows,
  direction: 'forward' | 'backward',
  first: PageParameters,
  between: () => Promise<void> = async () => {},
): Promise<{ request: PageParameters; page: Page<Row> }[]> {
  const steps: { request: PageParameters; page: Page<Row> }[] = []
  for (let request: PageParameters | undefined = first; request; ) {
    const page = await rows.get(request)
    expectEnvelope(page)
    if (steps.length > 200) expect.fail('the walk does not end')
    steps.push({ request, page })
    const next = direction === 'forward' ? page.next_cursor : page.prev_cursor
    const limit = first.limit
    if (!next) request = undefined
    else request = direction === 'forward' ? { limit, starting_after: next } : { limit, ending_before: next }
    await between()
  }
  return steps
}

const numbers = fc.uniqueArray(fc.nat({ max: 120 }), { maxLength: 40 })
const limit = fc.integer({ min: 1, max: 7 })

describe.each(['portfolios', 'transactions'] as const)('paging %s', (collection) => {
  const isFirst = collection === 'portfolios'

  it('forward meets every row once, in order, and backward again the same', async () => {
    await fc.assert(
      fc.asyncProperty(numbers, limit, async (present, limit) => {
        const rows = await Rows.of(collection, present)
        const forward = await walk(rows, 'forward', { limit })
        expect(forward.flatMap(({ page }) => ids(page))).toEqual(rows.inOrder(present))
        expect(forward.slice(0, -1).every(({ page }) => page.data.length === limit)).toBe(true)
        expect(forward.map(({ page }) => page.prev_cursor === null)).toEqual(forward.map((_, i) => i === 0))

        const last = forward.at(-1)!.page
        if (last.prev_cursor === null) return
        const backward = await walk(rows, 'backward', { limit, ending_before: last.prev_cursor })
        const met = [...backward.reverse().flatMap(({ page }) => ids(page)), ...ids(last)]
        expect(met).toEqual(rows.inOrder(present))
        expect(backward.every(({ page }) => page.has_more)).toBe(true)
      }),
    )
  })

  it('under inserts loses and doubles nothing that was there, and a repeated request gives the same page', async () => {
    const direction = fc.constantFrom('forward', 'backward')
    const inserts = fc.array(fc.uniqueArray(fc.nat({ max: 120 }), { maxLength: 3 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(numbers, limit, direction, inserts, async (present, limit, direction, batches) => {
        const rows = await Rows.of(collection, present)
        const start =
          direction === 'forward' ? { first: { limit }, covers: rows.inOrder(present) } : await fromEnd(rows, limit)
        if (!start) return
        const known = new Set(present)
        let step = 0
        const steps = await walk(rows, direction, start.first, async () => {
          const batch = (batches[step++] ?? []).filter((n) => !known.has(n))
          for (const n of batch) known.add(n)
          await rows.add(batch)
        })
        const pages = steps.map(({ page }) => ids(page))
        const met = (direction === 'forward' ? pages : pages.reverse()).flat()
        const old = new Set(rows.inOrder(present))
        expect(met.filter((id) => old.has(id))).toEqual(start.covers)
        expect(met).toEqual(rows.inOrder([...known]).filter((id) => met.includes(id)))

        for (const { request, page } of steps) {
          if (request.starting_after ?? request.ending_before) expect(ids(await rows.get(request))).toEqual(ids(page))
        }
      }),
    )
  })

  /** The request that turns back from the last page, and the rows it and those after it cover. */
  async function fromEnd(rows: Rows, limit: number) {
    const forward = await walk(rows, 'forward', { limit })
    const ending_before = forward.at(-1)!.page.prev_cursor
    if (ending_before === null) return undefined
    return { first: { limit, ending_before }, covers: forward.slice(0, -1).flatMap(({ page }) => ids(page)) }
  }

  it('shows rows added at the end on later pages: the last page stays as it was and leads to them', async () => {
    const [old, added] = isFirst
      ? [
          [0, 1, 2, 3, 4],
          [10, 11, 12],
        ]
      : [
          [20, 19, 18, 17, 16],
          [3, 2, 1],
        ]
    const rows = await Rows.of(collection, old)
    const first = await rows.get({ limit: 3 })
    const request = { limit: 3, starting_after: cursor(first.next_cursor) }
    const last = await rows.get(request)
    expect(last).toMatchObject({ has_more: false, next_cursor: null })
    await rows.add(added)
    const repeated = await rows.get(request)
    expect(ids(repeated)).toEqual(ids(last))
    const later = await rows.get({ limit: 3, starting_after: cursor(repeated.next_cursor) })
    expect(ids(later)).toEqual(rows.inOrder(added))
    expect(later.has_more).toBe(false)
    expect(ids(await rows.get({ limit: 3, ending_before: cursor(later.prev_cursor) }))).toEqual(
      rows.inOrder(old).slice(-3),
    )
  })

  it('shows rows added at the front on the pages before: backward paging goes on to them', async () => {
    const [old, added] = isFirst
      ? [
          [10, 11, 12, 13],
          [1, 2, 3],
        ]
      : [
          [4, 3, 2, 1],
          [20, 21, 22],
        ]
    const rows = await Rows.of(collection, old)
    const second = await rows.get({ limit: 3, starting_after: cursor((await rows.get({ limit: 3 })).next_cursor) })
    const request = { limit: 5, ending_before: cursor(second.prev_cursor) }
    const front = await rows.get(request)
    expect(front.prev_cursor).toBeNull()
    await rows.add(added)
    const repeated = await rows.get(request)
    expect(ids(repeated)).toEqual(ids(front))
    expect(ids(await rows.get({ limit: 5, ending_before: cursor(repeated.prev_cursor) }))).toEqual(rows.inOrder(added))
  })

  it('turns round on an empty page without losing a row', async () => {
    const rows = await Rows.of(collection, [1, 2, 3, 4, 5, 6])
    const order = rows.inOrder([1, 2, 3, 4, 5, 6]).map((id) => Number(id.slice(3)) - 1000)
    const middle = await rows.get({ limit: 2, starting_after: cursor((await rows.get({ limit: 2 })).next_cursor) })

    await rows.remove(order.slice(4))
    const behind = await rows.get({ limit: 2, starting_after: cursor(middle.next_cursor) })
    expect(behind).toMatchObject({ data: [], has_more: false })
    expect(ids(await rows.get({ limit: 2, ending_before: cursor(behind.prev_cursor) }))).toEqual(ids(middle))

    await rows.remove(order.slice(0, 2))
    const ahead = await rows.get({ limit: 2, ending_before: cursor(middle.prev_cursor) })
    expect(ahead).toMatchObject({ data: [], prev_cursor: null })
    expect(ids(await rows.get({ limit: 2, starting_after: cursor(ahead.next_cursor) }))).toEqual(ids(middle))

    await rows.remove(order.slice(2, 4))
    const none = await rows.get({ limit: 2, starting_after: cursor(middle.next_cursor) })
    expect(none).toEqual({ data: [], has_more: false, next_cursor: null, prev_cursor: null })
  })

  it('leads on from a page left empty by removals to rows added since', async () => {
    const [old, added] = isFirst
      ? [
          [1, 2, 3],
          [10, 11],
        ]
      : [
          [23, 22, 21],
          [2, 1],
        ]
    const rows = await Rows.of(collection, old)
    const first = await rows.get({ limit: 2 })
    await rows.remove(old.slice(2))
    await rows.add(added)
    const empty = await rows.get({ limit: 2, starting_after: cursor(first.next_cursor) })
    expect(empty).toMatchObject({ data: [], has_more: true })
    expect(ids(await rows.get({ limit: 2, starting_after: cursor(empty.next_cursor) }))).toEqual(rows.inOrder(added))
  })
})

describe('a page', () => {
  it('holds 25 rows unless told otherwise', async () => {
    const rows = await Rows.of(
      'portfolios',
      Array.from({ length: 60 }, (_, i) => i),
    )
    expect(DEFAULT_LIMIT).toBe(25)
    expect((await rows.get()).data).toHaveLength(25)
    expect((await rows.get({ limit: 60 })).next_cursor).toBeNull()
  })

  it('of an empty list has no cursors', async () => {
    const rows = await Rows.of('transactions', [])
    expect(await rows.get()).toEqual({ data: [], has_more: false, next_cursor: null, prev_cursor: null })
  })

  it('is refused when both cursors are given, good or bad', async () => {
    const rows = await Rows.of('portfolios', [1, 2])
    await expect(rows.get({ starting_after: 'x', ending_before: '' })).rejects.toMatchObject({
      code: 'conflicting_cursors',
      status: 400,
    })
  })

  it.each(['starting_after', 'ending_before'] as const)(
    'is refused when %s is empty, foreign or expired',
    async (param) => {
      const rows = await Rows.of('portfolios', [1, 2])
      const others = await Rows.of('transactions', [1, 2])
      const [own, foreign] = [await rows.get({ limit: 1 }), await others.get({ limit: 1 })]
      const refused = { code: 'cursor_invalid', details: { param } }
      await expect(rows.get({ [param]: '' })).rejects.toMatchObject(refused)
      await expect(rows.get({ [param]: cursor(foreign.next_cursor) })).rejects.toMatchObject(refused)
      clock.advance(CURSOR_LIFETIME + 1)
      const stale = { code: 'cursor_expired', status: 410, details: { param } }
      await expect(rows.get({ [param]: cursor(own.next_cursor) })).rejects.toMatchObject(stale)
    },
  )
})
