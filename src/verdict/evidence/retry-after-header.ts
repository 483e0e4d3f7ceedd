import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { endedAt } from './moments.ts'

/** Milliseconds that an answer asks to wait, from its end on; null when it does not. */
export function retryAfterOf(exchange: RecordedExchange): number | null {
  const { response, ended } = exchange
  const value = headerOf(response?.headers ?? [], 'retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  if (Number.isNaN(date) || ended === null) return null
  return Math.max(0, date - endedAt(exchange))
}
