import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** Milliseconds that an answer asks to wait, from its end on; null when it does not. */
export function retryAfterOf({ response, ended }: RecordedExchange): number | null {
  const value = headerOf(response?.headers ?? [], 'retry-after')?.trim()
  if (value === undefined) return null
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  if (Number.isNaN(date) || ended === null) return null
  return Math.max(0, date - Date.parse(ended.wall))
}
