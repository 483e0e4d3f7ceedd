import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, Partner, testNamespace } from '../helpers/partner.ts'
import { BASE64URL } from '../helpers/patterns.ts'

const PORTFOLIOS = 'end_users/pat/portfolios'
const TRANSACTIONS = 'end_users/pat/transactions'
const LISTS = ['pools', PORTFOLIOS, TRANSACTIONS]
const WEEK = 7 * 24 * 60 * 60 * 1000

let sandbox: SandboxHandle
let acme: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testNamespace()
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
  for (const name of ['a', 'b', 'c', 'd', 'e']) portfolio = await acme.open('pat', 'morpho-usdc', name)
  for (const amount of ['1001', '1002', '1003', '1004', '1005']) await acme.deposit('pat', portfolio, amount)
})
afterAll(() => sandbox.stop())

const page = (path: string, query: Record<string, string>): Promise<Answer> =>
  acme.get(`${path}?${new URLSearchParams(query)}`)
const idOf = (item: Record<string, string>) => item.pool_id ?? item.id ?? item.portfolio_id
const ids = (answer: Answer): string[] => answer.body.data.map(idOf)

/** The first page of two, and a cursor to the second. */
async function firstPage(path: string): Promise<{ first: Answer; cursor: string }> {
  const first = await page(path, { limit: '2' })
  return { first, cursor: first.body.next_cursor }
}

describe.each(LISTS)('%s', (path) => {
  test('Pagination 1: cursors are base64url strings', async () => {
    const { cursor } = await firstPage(path)
    expect(cursor).toMatch(BASE64URL)
    expect((await page(path, { limit: '2', starting_after: cursor })).body.prev_cursor).toMatch(BASE64URL)
  })

  test('Pagination 1: cursors are opaque: no id can be read in them', async () => {
    const { cursor } = await firstPage(path)
    for (const id of ids(await page(path, {}))) expect(cursor).not.toContain(id)
  })

  test('Pagination 1: a cursor is valid for 7 days', async () => {
    const { cursor } = await firstPage(path)
    await sandbox.clock.advance(WEEK)
    expect(outcome(await page(path, { starting_after: cursor }))).toBe('200')
    expect(outcome(await page(path, { ending_before: cursor }))).toBe('200')
  })

  test('Pagination 2: next_cursor as starting_after walks forward, prev_cursor as ending_before back', async () => {
    const all = ids(await page(path, { limit: '100' }))
    const pages = [await page(path, { limit: '2' })]
    for (let next = pages[0]!.body.next_cursor; next; next = pages.at(-1)!.body.next_cursor) {
      pages.push(await page(path, { limit: '2', starting_after: next }))
    }
    expect(pages.flatMap(ids)).toEqual(all)
    expect(pages.length).toBe(Math.ceil(all.length / 2))

    const back = [pages.at(-1)!]
    for (let previous = back[0]!.body.prev_cursor; previous; previous = back[0]!.body.prev_cursor) {
      back.unshift(await page(path, { limit: '2', ending_before: previous }))
    }
    expect(back.map(ids)).toEqual(pages.map(ids))
  })

  test('Pagination 3: repeating a request with the same cursor returns the same page', async () => {
    const { cursor } = await firstPage(path)
    const once = await page(path, { limit: '2', starting_after: cursor })
    await sandbox.clock.advance(60_000)
    expect(ids(await page(path, { limit: '2', starting_after: cursor }))).toEqual(ids(once))
  })

  test('Pagination 4: both cursor parameters together give 400 conflicting_cursors', async () => {
    const { cursor } = await firstPage(path)
    const second = await page(path, { limit: '2', starting_after: cursor })
    const both = { starting_after: second.body.prev_cursor, ending_before: cursor }
    expect(outcome(await page(path, both))).toBe('400 conflicting_cursors')
    expect(outcome(await page(path, { starting_after: 'x', ending_before: 'y' }))).toBe('400 conflicting_cursors')
  })

  test.each(['starting_after', 'ending_before'])(
    'Pagination 5: a tampered %s gives 400 cursor_invalid',
    async (name) => {
      const { cursor } = await firstPage(path)
      const changed = [...cursor].map(
        (letter, i) => cursor.slice(0, i) + (letter === 'A' ? 'B' : 'A') + cursor.slice(i + 1),
      )
      const made = ['', 'x', `${cursor}A`, `${cursor}=`, cursor.slice(0, -1), ids(await page(path, {}))[0]!]
      for (const tampered of [...changed.filter((_, i) => i % 5 === 0), changed.at(-1)!, ...made]) {
        expect([tampered, outcome(await page(path, { [name]: tampered }))]).toEqual([tampered, '400 cursor_invalid'])
      }
    },
  )

  test.each(['starting_after', 'ending_before'])(
    'Pagination 6: an expired %s gives 410 cursor_expired',
    async (name) => {
      const { cursor } = await firstPage(path)
      await sandbox.clock.advance(WEEK + 1)
      expect(outcome(await page(path, { [name]: cursor }))).toBe('410 cursor_expired')
    },
  )

  test('Pagination 6: the first page, fetched again, gives a fresh cursor', async () => {
    const { first, cursor: stale } = await firstPage(path)
    await sandbox.clock.advance(WEEK + 1)
    const { first: again, cursor } = await firstPage(path)
    expect(cursor).not.toBe(stale)
    expect(ids(again)).toEqual(ids(first))
    expect(outcome(await page(path, { starting_after: cursor }))).toBe('200')
  })

  test('Pagination 6: a tampered cursor that is old is cursor_invalid still', async () => {
    const { cursor } = await firstPage(path)
    await sandbox.clock.advance(WEEK + 1)
    const tampered = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`
    expect(outcome(await page(path, { starting_after: tampered }))).toBe('400 cursor_invalid')
  })
})

test('Pagination 3: portfolios added after the cursor was issued appear on later pages', async () => {
  const before = ids(await page(PORTFOLIOS, { limit: '100' }))
  const { body } = await page(PORTFOLIOS, { limit: String(before.length - 1) })
  const rest = { limit: '10', starting_after: body.next_cursor }
  expect(ids(await page(PORTFOLIOS, rest))).toEqual(before.slice(-1))

  const added = await acme.open('pat', 'morpho-usdc', 'f')
  const repeated = await page(PORTFOLIOS, rest)
  expect(ids(repeated)).toEqual(before.slice(-1))
  expect(repeated.body.has_more).toBe(true)
  expect(ids(await page(PORTFOLIOS, { starting_after: repeated.body.next_cursor }))).toEqual([added])
})

test('Pagination 3: transactions added after the cursor was issued do not shift the pages behind it', async () => {
  const { cursor } = await firstPage(TRANSACTIONS)
  const query = { limit: '2', starting_after: cursor }
  const before = await page(TRANSACTIONS, query)
  const { transaction_id } = (await acme.deposit('pat', portfolio, '1006')).body
  expect(ids(await page(TRANSACTIONS, query))).toEqual(ids(before))
  expect(ids((await firstPage(TRANSACTIONS)).first)[0]).toBe(transaction_id)
})
