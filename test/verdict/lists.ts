import { type ExchangeParts, exchange } from './exchange.ts'

/** A page asked for and answered: which cursors it sent, and which it was given. */
export interface PageParts extends Omit<ExchangeParts, 'request' | 'response'> {
  after?: string
  before?: string
  next?: string | null
  prev?: string | null
  /** A refusal instead of a page. */
  refused?: { status: number; code: string }
}

/** A request for a page of alice's transactions, unless other parts say otherwise. */
export function page({ after, before, next = null, prev = null, refused, ...rest }: PageParts = {}) {
  const query: [string, string][] = [['limit', '2']]
  if (after !== undefined) query.push(['starting_after', after])
  if (before !== undefined) query.push(['ending_before', before])
  const body = JSON.stringify({ data: [], has_more: next !== null, next_cursor: next, prev_cursor: prev })
  return exchange({
    operation: 'list_transactions',
    ...rest,
    request: { method: 'GET', path: '/v1/partner/end_users/alice/transactions', query },
    response: refused ? { ...refused, body: JSON.stringify(refused) } : { body },
  })
}

export const invalid = { refused: { status: 400, code: 'cursor_invalid' } }
export const expired = { refused: { status: 410, code: 'cursor_expired' } }
