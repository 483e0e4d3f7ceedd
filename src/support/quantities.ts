import ms from 'ms'
import { shorten } from './foreign-text.ts'
import { UnreadableTextError } from './issue.ts'

/** A span to draw from, in milliseconds; `min` equals `max` when it is fixed. */
export interface DurationRange {
  min: number
  max: number
}

/**
 * Milliseconds of `0`, `250ms`, `2s`, `8d`, `1.5h`. Throws UnreadableTextError naming the text, also for a number without a unit, since
 * people take it for seconds as often as for milliseconds.
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

/** A fixed duration or a range of two: `0`, `2s`, `5s-30s`, `realistic` (`5s-30s`, typical by the specification). */
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

const SPANS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 }

/** A span of time as an option writes it, in the largest unit of which it is whole: `24h` is `1d`, `90m` is `90m`. */
export function writtenDuration(milliseconds: number): string {
  const [unit = 'ms', size = 1] = Object.entries(SPANS).find(([, size]) => milliseconds % size === 0) ?? []
  return `${milliseconds / size}${unit}`
}

/**
 * Milliseconds since the Unix epoch of a date, or a date and time, in ISO 8601; NaN for any other text, and for a day that its month
 * does not have (`Date.parse` would count on into the next month).
 */
export function parseMoment(text: string): number {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(?!\d)/.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return date.getUTCDate() === Number(day) ? Date.parse(text) : Number.NaN
}

const UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

/** Bytes of `0`, `65536`, `64MiB`, `1.5GB`. Throws UnreadableTextError naming the text. */
export function parseSize(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? []
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN))
  if (number !== undefined && Number.isSafeInteger(bytes)) return bytes
  throw new UnreadableTextError(`"${shorten(text)}" is not a size`, 'write 0, 65536, 512KiB, 64MiB or 1GB')
}

/** An amount of minor units as people write it: `2,000.00`; at least two decimals, and no zeros behind them. */
export function amountInWords(minor: bigint, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(Math.min(2, decimals), '0')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${minor < 0n ? '−' : ''}${grouped}${fraction === '' ? '' : `.${fraction}`}`
}
