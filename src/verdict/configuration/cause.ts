import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { Check, RecordedExchange, ShownToken } from '../../traffic/recorded-exchange.ts'
import type { ConfigurationCause } from '../report.ts'

/** A mistake in a client's set-up, as one refused exchange shows it. */
export type SetUpDiagnosis = Pick<ConfigurationCause, 'title' | 'expected' | 'came' | 'fix'>

/** Facts from all exchanges, for diagnosing a single one. */
export interface RefusalSurroundings {
  settings: ServiceSettings
  /** Fingerprints of the tokens that the token endpoint issued. */
  issued: ReadonlySet<string>
  /** Issued tokens that a fault spoiled: the set-up is not to blame for their refusal. */
  spoiled: ReadonlySet<string>
  /** Fingerprints of user tokens that were accepted at least once. */
  accepted: ReadonlySet<string>
}

/** A mistake in how a client is set up. */
export interface Cause {
  /** A noun phrase. */
  id: string
  /** The check that refuses such a client: a client that passes it is set up correctly. */
  check: Check
  /** Pure. Undefined when the exchange does not show this mistake. */
  diagnose(exchange: RecordedExchange, around: RefusalSurroundings): SetUpDiagnosis | undefined
}

/** Maximum number of characters of a client's text in one line of a report. */
export const LONGEST = 200

/** @returns true if the exchange was refused for one of these aspects, and no fault was involved */
export function refusedFor(
  exchange: RecordedExchange,
  { check, aspects }: { check: Check; aspects: readonly string[] },
  { spoiled }: Pick<RefusalSurroundings, 'spoiled'>,
): boolean {
  const { refusal, faults, request } = exchange
  if (refusal === null || refusal.check !== check || faults.length > 0) return false
  if (request.idp_token !== null && spoiled.has(request.idp_token.fingerprint)) return false
  return refusal.aspect !== null && aspects.includes(refusal.aspect)
}

/** A claim or header member in words; `none` if missing. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

/** A claim of a token; undefined if it is missing or cannot be read. */
export function claimOf(token: ShownToken | null, name: string): unknown {
  return token?.claims?.[name]
}

/** Claims that limit the validity of a token, in seconds since 1970. */
export const TIMES = ['iat', 'nbf', 'exp'] as const
/** Threshold between times in seconds and in milliseconds: in seconds, it is the year 5138. */
const MILLISECONDS = 1e11

/** The skew of the clock behind a token, if the token was refused because of its times. */
export function skewOf(
  { refusal, began }: RecordedExchange,
  token: ShownToken,
  which: string,
): SetUpDiagnosis | undefined {
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
