import { shorten } from '../../support/foreign-text.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** Which way a cursor leads: `next_cursor` forward, `prev_cursor` backward. */
export type Direction = 'next' | 'prev'

/** A cursor as an answer gave it out. */
export interface CursorIssue {
  list: string
  direction: Direction
  by: RecordedExchange
}

/** A cursor as a request sent it. */
export interface SentCursor {
  exchange: RecordedExchange
  list: string
  cursor: string
  /** What the parameter asks for: `starting_after` goes on to the next page, `ending_before` to the previous one. */
  direction: Direction
  /** Every time it was given out before. Equal places of a list have equal cursors: of a page of one item, both are the same. */
  issues: readonly CursorIssue[]
}

const LISTS: readonly (string | null)[] = ['list_pools', 'list_portfolios', 'list_transactions']
const PARAMETERS = { starting_after: 'next', ending_before: 'prev' } as const

/** As the service writes it: no spaces; a quotation mark within a text has a backslash in front, so no text looks like this. */
const GIVEN_OUT = /"(next|prev)_cursor":"([^"\\]+)"/g

/** Who polls an unchanged list at a frozen clock is given the same cursor for ever. */
const MANY = 16

/** Names the list that a request pages through; undefined when it is another request. */
export function listOf({ operation, tenant, external_id }: RecordedExchange): string | undefined {
  return LISTS.includes(operation) ? JSON.stringify([operation, tenant, external_id]) : undefined
}

/** What people call it: `list_transactions of alice`. */
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

/** The cursors that an answer gave out. */
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

/** Every cursor sent, in the order of the requests, with where it came from. */
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
