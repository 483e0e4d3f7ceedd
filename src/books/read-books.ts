import type { LedgerPortfolio } from '../oracle/facts.ts'
import { oneLine, shorten } from '../support/foreign-text.ts'
import { formatPath, wordsOf } from '../support/issue.ts'
import { jsonExcess } from '../support/json.ts'
import { grouped } from '../support/maps.ts'
import { suggest } from '../support/nearest.ts'
import { schemaIssues } from '../support/schema-issues.ts'
import { BOOKS_FORM, type Books, BooksError, type BooksPlace, BooksSchema } from './books.ts'

/** Maximum number of values of the JSON: far more than a record has transfers. */
const MOST_VALUES = 1_000_000
/** Maximum number of open transfers beside a balance: each of them may be in it or not. */
const MOST_OPEN = 12

/** Reads what a books command printed. Throws {@link BooksError}. */
export function readBooks(printed: string): Books {
  const value = jsonIn(printed.replace(/^\uFEFF/, '').trim())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = Array.isArray(value) ? 'a list' : `${JSON.stringify(value)}`
    throw new BooksError(
      `printed ${shorten(what)} where an object must be: print {"form": ${BOOKS_FORM}, "transfers": […]} or {"form": ${BOOKS_FORM}, "balances": […]}`,
    )
  }
  if ('form' in value && value.form !== BOOKS_FORM) {
    const form = shorten(JSON.stringify(value.form) ?? '', 40)
    throw new BooksError(
      `printed books of form ${form}, and this version reads form ${BOOKS_FORM}: print "form": ${BOOKS_FORM}`,
    )
  }
  const [issue] = schemaIssues(BooksSchema, value)
  if (issue) throw new BooksError(`printed wrong books: ${formatPath(issue.path)} ${wordsOf(issue)}`)
  const books = value as Books
  refuseIncomplete(books)
  refuseTwice(books)
  return books
}

function jsonIn(text: string): unknown {
  if (text === '')
    throw new BooksError(`printed nothing: it must print {"form": ${BOOKS_FORM}, "transfers": […]} to standard output`)
  const excess = jsonExcess(text, MOST_VALUES)
  if (excess !== undefined) throw new BooksError(`printed JSON that ${excess}: print the orders of this run alone`)
  try {
    return JSON.parse(text)
  } catch (error) {
    const more = besideJson(text)
    if (more !== undefined) {
      throw new BooksError(
        `printed more than its JSON: ${JSON.stringify(oneLine(more, 60))}; let it print the JSON alone, and anything else to standard error`,
      )
    }
    const why = oneLine((error as Error).message, 100)
    throw new BooksError(
      `printed no JSON: ${JSON.stringify(oneLine(text, 60))} (${why}); print one object, and nothing else`,
    )
  }
}

/** The text around an object of JSON; undefined if there is none in it. */
function besideJson(text: string): string | undefined {
  const [start, end] = [text.search(/^\s*\{/m), text.lastIndexOf('}') + 1]
  if (start < 0 || end <= start) return undefined
  try {
    JSON.parse(text.slice(start, end))
    return text.slice(0, start).trim() || text.slice(end).trim()
  } catch {
    return undefined
  }
}

function refuseIncomplete(books: Books): void {
  if (!books.transfers && !books.balances) {
    throw new BooksError('printed neither transfers nor balances: an app without orders prints "transfers": []')
  }
  for (const [path, { pool_id, portfolio_id }] of placesIn(books)) {
    if (pool_id !== undefined || portfolio_id !== undefined) continue
    throw new BooksError(`printed wrong books: ${path} has neither pool_id nor portfolio_id; add one of them`)
  }
}

function placesIn({ transfers = [], balances = [] }: Books): [path: string, place: BooksPlace][] {
  const named =
    (list: string) =>
    (place: BooksPlace, i: number): [string, BooksPlace] => [`${list}[${i}]`, place]
  return [...transfers.map(named('transfers')), ...balances.map(named('balances'))]
}

/** Refuses two transfers of one key, and two balances of one place: it would be chance which one is compared. */
function refuseTwice({ transfers = [], balances = [] }: Books): void {
  const [first, second] = firstTwice(transfers, ({ tenant, external_id, type, idempotency_key: key }) =>
    key === undefined ? undefined : JSON.stringify([tenant, external_id, type, key.toLowerCase()]),
  )
  if (second !== undefined) {
    const key = shorten(transfers[second]?.idempotency_key ?? '', 60)
    throw new BooksError(
      `printed two transfers of the key "${key}", transfers[${first}] and transfers[${second}]: one key carries out one order; give each its own, or leave idempotency_key out`,
    )
  }
  const [one, other] = firstTwice(balances, ({ tenant, external_id, pool_id, portfolio_id }) =>
    JSON.stringify([tenant, external_id, portfolio_id ?? null, portfolio_id === undefined ? pool_id : null]),
  )
  if (other === undefined) return
  throw new BooksError(
    `printed two balances of one place, balances[${one}] and balances[${other}]: add them up, or name their portfolio_id`,
  )
}

function firstTwice<Row>(rows: readonly Row[], nameOf: (row: Row) => string | undefined): number[] {
  const groups = grouped(rows.keys(), (i) => nameOf(rows[i] as Row))
  return [...groups.values()].find(({ length }) => length > 1) ?? []
}

/** Names that exist in a sandbox. */
export interface KnownNames {
  /** With tenants and external_ids; those that are only asked for have a tenant of null. */
  endUsers: readonly { tenant: string | null; external_id: string }[]
  /** Resolves to the ids of all pools; called only for books that name a pool in which nobody has a portfolio. */
  pools(): Promise<readonly string[]>
  portfolios: readonly LedgerPortfolio[]
}

/** Refuses books that name what the sandbox does not have. Rejects with {@link BooksError}. */
export async function refuseUnknownNames(books: Books, known: KnownNames): Promise<void> {
  const inUse = new Set(known.portfolios.map(({ pool_id }) => pool_id))
  const users = grouped(known.endUsers, ({ external_id }) => external_id)
  const portfolios = new Map(known.portfolios.map((one) => [one.portfolio_id, one]))
  for (const [path, place] of placesIn(books)) {
    const { pool_id } = place
    const problem =
      userProblem(place, users) ??
      portfolioProblem(place, portfolios) ??
      (pool_id === undefined || inUse.has(pool_id) ? undefined : poolProblem(pool_id, await known.pools()))
    if (problem !== undefined) throw new BooksError(`printed wrong books: ${path} names ${problem}`)
  }
  refuseManyOpen(books, known)
}

function userProblem(
  { tenant, external_id }: BooksPlace,
  users: ReadonlyMap<string, readonly KnownNames['endUsers'][number][]>,
): string | undefined {
  const alike = users.get(external_id)
  if (!alike) {
    return `the end user "${shorten(external_id, 60)}", and the sandbox has none of that name: print the external_id that the API was given; ${suggest(external_id, [...users.keys()])}`
  }
  const own = alike.filter((user) => tenant === undefined || user.tenant === null || user.tenant === tenant)
  if (own.length === 0) {
    const tenants = [...new Set(alike.flatMap((user) => user.tenant ?? []))]
    return `the end user "${shorten(external_id, 60)}" of the tenant "${shorten(tenant ?? '', 60)}", who has none of that name; ${suggest(tenant ?? '', tenants)}`
  }
  const tenants = new Set(own.flatMap((user) => user.tenant ?? []))
  if (tenants.size < 2) return undefined
  return `the end user "${shorten(external_id, 60)}", and ${[...tenants].join(' and ')} have one of that name each: add its tenant`
}

function portfolioProblem(place: BooksPlace, portfolios: ReadonlyMap<string, LedgerPortfolio>): string | undefined {
  const { tenant, external_id, pool_id, portfolio_id } = place
  if (portfolio_id === undefined) return undefined
  const found = portfolios.get(portfolio_id)
  const name = shorten(portfolio_id, 60)
  if (!found)
    return `the portfolio "${name}", and the sandbox has none of that id: print the portfolio_id that the API answered`
  if (found.external_id !== external_id || (tenant !== undefined && found.tenant !== tenant)) {
    return `the portfolio "${name}" of ${shorten(external_id, 60)}, and it belongs to ${shorten(found.external_id, 60)}: correct one of them`
  }
  if (pool_id === undefined || found.pool_id === pool_id) return undefined
  return `the portfolio "${name}" in ${shorten(pool_id, 60)}, and it is in ${found.pool_id}: leave out pool_id`
}

function poolProblem(pool: string, pools: readonly string[]): string | undefined {
  if (pools.includes(pool)) return undefined
  return `the pool "${shorten(pool, 60)}", and the sandbox has none of that id; ${suggest(pool, [...new Set(pools)])}`
}

function refuseManyOpen({ transfers = [], balances }: Books, { portfolios }: KnownNames): void {
  if (!balances) return
  const poolOf = new Map(portfolios.map(({ portfolio_id, pool_id }) => [portfolio_id, pool_id]))
  const open = transfers.filter(({ state }) => state === 'open')
  const groups = grouped(open, ({ tenant, external_id, pool_id, portfolio_id }) =>
    JSON.stringify([tenant, external_id, pool_id ?? poolOf.get(portfolio_id ?? '')]),
  )
  const many = [...groups.values()].find(({ length }) => length > MOST_OPEN)
  const [first] = many ?? []
  if (!many || !first) return
  throw new BooksError(
    `printed ${many.length} open transfers of ${shorten(first.external_id, 60)} in one pool beside balances: at most ${MOST_OPEN} can be in a balance or not; leave the balances out`,
  )
}
