import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** When its first header came: milliseconds since the Unix epoch, real time. */
export function beganAt({ began }: RecordedExchange): number {
  return Date.parse(began.wall)
}

/** When it was over: milliseconds since the Unix epoch, real time. Infinity while it is open. */
export function endedAt({ ended }: RecordedExchange): number {
  return ended === null ? Number.POSITIVE_INFINITY : Date.parse(ended.wall)
}
