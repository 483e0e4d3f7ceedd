import ms from 'ms'
import { UnreadableTextError } from './issue.ts'
import { shorten } from './shorten.ts'

/** A span to draw from, in milliseconds; `min` equals `max` when it is fixed. */
export interface DurationRange {
  min: number
  max: number
}

/** Milliseconds of `0`, `250ms`, `2s`, `8d`, `1.5h`. Throws UnreadableTextError naming what was given. */
export function parseDuration(text: string): number {
  const value = /^\d+(\.\d+)?\s*[a-z]*$/i.test(text.trim()) ? ms(text.trim() as ms.StringValue) : undefined
  if (value === undefined || !Number.isFinite(value)) {
    throw new UnreadableTextError(`"${shorten(text)}" is not a duration`, 'write 0, 250ms, 2s, 10m, 24h or 8d')
  }
  return value
}

/** A fixed duration or a range of two: `0`, `2s`, `5s-30s`, `realistic` (`5s-30s`, what the specification calls typical). */
export function parseDurationRange(text: string): DurationRange {
  const [from = '', to] = (text.trim() === 'realistic' ? '5s-30s' : text).split('-')
  const min = parseDuration(from)
  const max = to === undefined ? min : parseDuration(to)
  if (max < min) {
    throw new UnreadableTextError(`"${shorten(text)}" ends before it begins`, 'write the shorter duration first')
  }
  return { min, max }
}
