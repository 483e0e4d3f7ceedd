import ms from 'ms'
import { UnreadableTextError } from './issue.ts'
import { shorten } from './shorten.ts'

/** A span to draw from, in milliseconds; `min` equals `max` when it is fixed. */
export interface DurationRange {
  min: number
  max: number
}

/**
 * Milliseconds of `0`, `250ms`, `2s`, `8d`, `1.5h`. Throws UnreadableTextError naming what was given: a number without a unit as well,
 * since people take it for seconds as often as for milliseconds.
 */
export function parseDuration(text: string): number {
  const bare = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(text)?.[1]
  if (bare !== undefined && Number(bare) !== 0) {
    throw new UnreadableTextError(`"${shorten(bare)}" has no unit`, `write ${shorten(bare)}s, or ${shorten(bare)}ms`)
  }
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

/** A span of time for people: `41 ms`, `5.0 s`, `3 min 20 s`. */
export function durationInWords(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 99_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
