import { shorten } from '../../support/foreign-text.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** Direction of a cursor: `next_cursor` leads forward, `prev_cursor` backward. */
export type Direction = 'next' | 'prev'

/** One occurrence of a cursor in an answer. */
export interface CursorIssue {
  list: string
  direction: Direction
  by: RecordedExchange
}

/** A cursor in a request. */
export interface SentCursor {
  exchange: RecordedExchange
  list: string
  cursor: string
  /** Direction of the parameter: `starting_after` goes on to the next page, `ending_before` to the previous one. */
  direction: Direction
  /** Its earlier occurrences in answers. Equal places of a list have equal cursors: on a page of one item, both are the same. */
  issues: readonly CursorIssue[]
}

const LISTS: readonly (string | null)[] = ['list_pools', 'list_portfolios', 'list_transactions']
const PARAMETERS = { starting_after: 'next', ending_before: 'prev' } as const

/** A cursor as the service writes it: without spaces. Quotation marks within texts are escaped, so no text looks like this. */
const GIVEN_OUT = /"(next|prev)_cursor":"([^"\\]+)"/g

/** Maximum number of occurrences: a client that polls an unchanged list at a frozen clock gets the same cursor again and again. */
const MANY = 16

/** A key of the list that a request pages through; undefined for another request. */
export function listOf({ operation, tenant, external_id }: RecordedExchange): string | undefined {
  return LISTS.includes(operation) ? JSON.stringify([operation, tenant, external_id]) : undefined
}

/** Name of the list for people: `list_transactions of alice`. */
export function listName(exchange: RecordedExchange | undefined): string {
  if (!exchange) return 'another list'
  const { operation, external_id } = exchange
  return external_id === null ? `${operation}` : `${operation} of ${shorten(external_id, 40)}`
}

/** The cursors of a request by direction, empty ones left out. */
export function cursorsIn({ request }: RecordedExchange): { direction: Direction; cursor: string }[] {
  return request.query.flatMap(([name, cursor]) => {
    if ((name !== 'starting_after' && name !== 'ending_before') || cursor === '') return []
    return [{ direction: PARAMETERS[name], cursor }]
  })
}

/** The cursors in an answer. */
export function issuesOf(exchange: RecordedExchange): (CursorIssue & { cursor: string })[] {
  const list = listOf(exchange)
  const body = exchange.response?.body
  if (list === undefined || !body) return []
  return [...body.matchAll(GIVEN_OUT)].map(([, direction, cursor = '']) => ({
    list,
    direction: direction === 'next' ? 'next' : 'prev',
    by: exchange,
    cursor,
  }))
}

/** Every cursor sent, in the order of the requests, with its earlier occurrences in answers. */
export function sentCursors(exchanges: readonly RecordedExchange[]): SentCursor[] {
  const known = new Map<string, CursorIssue[]>()
  return exchanges.flatMap((exchange) => {
    const list = listOf(exchange)
    if (list === undefined) return []
    const sent = cursorsIn(exchange).map((one) => ({
      exchange,
      list,
      ...one,
      issues: [...(known.get(one.cursor) ?? [])],
    }))
    for (const { cursor, ...issue } of issuesOf(exchange)) {
      const issues = known.get(cursor)
      if (!issues) known.set(cursor, [issue])
      else if (issues.length < MANY) issues.push(issue)
    }
    return sent
  })
}
