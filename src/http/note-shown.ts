import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiResponse, ShownTotal } from '../domain/api-response.ts'
import { jsonObject } from '../support/json.ts'
import { member, type Shown } from './exchange.ts'

/** The worth that an operation's response shows, if it reaches the client: a list has it in `shows`, a transfer in its body. */
export function shownBy({ status, body, shows }: ApiResponse, again: boolean): Shown | undefined {
  if (shows) return { totals: shows, again, ofTransfer: false }
  const [portfolio_id, last_transaction_id, total_balance] = ['portfolio_id', 'transaction_id', 'total_balance'].map(
    (name) => member(body, name),
  )
  if (status >= 400 || !portfolio_id || !last_transaction_id || total_balance === undefined) return undefined
  return { totals: [{ portfolio_id, last_transaction_id, total_balance }], again, ofTransfer: true }
}

/**
 * Remembers the worth that an answer shows once its last byte was handed over on a living connection, and no earlier. `sent`: the body
 * that a fault may have changed. Assumption `withdraw-all`: an answer that was dropped, replaced, or requested by HEAD showed nothing.
 */
export function noteWhenShown(request: FastifyRequest, reply: FastifyReply, sent?: string): void {
  const { exchange, namespace, context, id, method } = request
  const shown = exchange?.shows
  if (!shown || method === 'HEAD') return
  const totals = sent === undefined ? shown.totals : shown.totals.filter((total) => isIn(sent, total))
  if (totals.length === 0) return
  reply.raw.once('finish', () => {
    // Node also calls an answer finished whose client left before it was written.
    if (request.raw.socket.destroyed || context?.generation.aborted) return
    const showings = totals.map((total) => ({ ...total, request_id: id }))
    namespace.service.showings.note(showings, shown)
  })
}

function isIn(body: string, { portfolio_id, total_balance }: ShownTotal): boolean {
  const read = jsonObject(body)
  const items: unknown[] = Array.isArray(read?.data) ? read.data : [read]
  return items.some(
    (item) => member(item, 'portfolio_id') === portfolio_id && member(item, 'total_balance') === total_balance,
  )
}
