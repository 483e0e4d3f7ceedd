import type { RecordedExchange, ShownToken } from '../../traffic/recorded-exchange.ts'
import { claimOf, type Diagnosis } from './cause.ts'

/** Claims that say when a token is good, in seconds since 1970. */
export const TIMES = ['iat', 'nbf', 'exp'] as const
/** A moment in milliseconds is greater; one in seconds is not before the year 5138. */
const MILLISECONDS = 1e11

/** How far the clock behind a token is off, when its times are why it was refused. */
export function skewOf({ refusal, began }: RecordedExchange, token: ShownToken, which: string): Diagnosis | undefined {
  const aspect = refusal?.aspect ?? 'exp'
  const claim = claimOf(token, aspect)
  if (typeof claim !== 'number' || !Number.isFinite(claim)) return undefined
  const expected = `${aspect} ${aspect === 'exp' ? 'after' : 'at or before'} ${began.wall}`
  if (claim > MILLISECONDS)
    return {
      title: `The times in the ${which} are in milliseconds`,
      expected,
      came: `${aspect} ${claim}`,
      fix: 'iat, nbf and exp are seconds since 1970 (RFC 7519 §2): divide by 1,000.',
    }
  const seconds = Math.round(claim - Date.parse(began.wall) / 1000)
  return {
    title: `The clock behind the ${which} is ${aspect === 'exp' ? 'slow, or they are old' : 'fast'}`,
    expected,
    came: `${aspect} ${Math.abs(seconds).toLocaleString('en-US')} s ${seconds > 0 ? 'ahead' : 'ago'}`,
    fix: 'Set the clock of the machine or container that mints them, or mint new ones: tokens go by real time, never by the sandbox clock.',
  }
}
