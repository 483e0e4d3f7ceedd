import type { ExchangeLine, Report } from '../report.ts'
import { plainText } from './plain-text.ts'

/** The exchanges that these requests are, in the order of their arrival. */
export function exchangesOf({ exchanges }: Report, request_ids: readonly string[]): ExchangeLine[] {
  const wanted = new Set(request_ids)
  return exchanges.filter(({ request_id }) => wanted.has(request_id))
}

/** The first eight characters of a key: enough to tell keys apart. */
export function shortKey(key: string): string {
  return plainText(key.length > 12 ? `${key.slice(0, 8)}…` : key)
}

/** Milliseconds for people: `40 ms`, `5.0 s`, `2 min 5 s` */
export function inWords(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
