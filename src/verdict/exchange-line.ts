import { shorten } from '../support/shorten.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { ExchangeLine } from './report.ts'

/** Most characters of what a client chose itself. */
const LONGEST = 200
/** Most characters of a body. */
const LONGEST_BODY = 2048

const DROPPED = {
  reset: 'connection reset',
  closed: 'connection closed',
  truncated: 'answer cut short',
} as const

/** An exchange as a sequence diagram needs it; `start` is the moment its times count from, in milliseconds since the Unix epoch. */
export function exchangeLine(exchange: RecordedExchange, start: number): ExchangeLine {
  const { request, idempotency, faults, transfer } = exchange
  return {
    request_id: exchange.request_id,
    operation: exchange.operation,
    tenant: exchange.tenant,
    external_id: exchange.external_id === null ? null : shorten(exchange.external_id, LONGEST),
    request: shorten(`${request.method} ${request.path}`, LONGEST),
    request_body: request.body === null ? null : shorten(request.body, LONGEST_BODY),
    answer: answerOf(exchange),
    arrived: exchange.end === 'answered',
    idempotency_key: idempotency === null ? null : shorten(idempotency.key, LONGEST),
    fault: faults.map(({ kind, phase, explanation }) => `${kind} at ${phase}: ${explanation}`).join(' ') || null,
    connection: exchange.connection,
    at_ms: Math.max(0, Date.parse(exchange.began.wall) - start),
    took_ms: exchange.took_ms,
    tx_hash: transfer?.tx_hash ?? null,
    shown_by: transfer?.shown_by ?? null,
  }
}

function answerOf({ end, dropped, response, took_ms }: RecordedExchange): string {
  if (end === 'dropped') return dropped === null ? 'connection dropped' : DROPPED[dropped]
  if (end === 'abandoned') return `client left after ${(took_ms / 1000).toFixed(1)} s`
  if (end === 'cut_off') return 'cut off by a reset'
  if (end === 'open' || response === null) return 'no answer yet'
  return response.code === null ? String(response.status) : `${response.status} ${shorten(response.code, LONGEST)}`
}
