import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * The Idempotency-Key that a request came with, as the service compares it: without the quotes that the IETF draft's form puts
 * around it. Null without one.
 */
export function keyOf({ idempotency, request }: RecordedExchange): string | null {
  const given = idempotency?.key ?? request.headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1]
  if (given === undefined) return null
  return /^".*"$/.test(given) ? given.slice(1, -1) : given
}
