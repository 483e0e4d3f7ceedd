import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { Check, RecordedExchange, ShownToken } from '../../traffic/recorded-exchange.ts'
import type { ConfigurationCause } from '../report.ts'

/** What is wrong with a client's set-up, as one refused exchange shows it. */
export type Diagnosis = Pick<ConfigurationCause, 'title' | 'expected' | 'came' | 'fix'>

/** What all exchanges together say, for those who look at one. */
export interface Surroundings {
  settings: ServiceSettings
  /** Fingerprints of the tokens that the token endpoint issued. */
  issued: ReadonlySet<string>
  /** Of those, the ones that a fault spoiled: nobody's set-up is to blame. */
  spoiled: ReadonlySet<string>
  /** Fingerprints of user tokens that were accepted at some time. */
  accepted: ReadonlySet<string>
}

/** A mistake in how a client is set up. */
export interface Cause {
  /** A noun phrase. */
  id: string
  /** The check that refuses such a client: one whose requests get past it is set up right. */
  check: Check
  /** Pure. Undefined when the exchange says nothing of the kind. */
  diagnose(exchange: RecordedExchange, around: Surroundings): Diagnosis | undefined
}

/** Most characters of what a client sent, in one line of a report. */
export const LONGEST = 200

/** Whether one of these aspects was why the exchange was refused, and no fault had a hand in it. */
export function refusedFor(
  exchange: RecordedExchange,
  { check, aspects }: { check: Check; aspects: readonly string[] },
  { spoiled }: Pick<Surroundings, 'spoiled'>,
): boolean {
  const { refusal, faults, request } = exchange
  if (refusal === null || refusal.check !== check || faults.length > 0) return false
  if (request.idp_token !== null && spoiled.has(request.idp_token.fingerprint)) return false
  return refusal.aspect !== null && aspects.includes(refusal.aspect)
}

/** A claim or header member in words; `none` when there is none. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

/** A claim of a token; undefined when it cannot be read. */
export function claimOf(token: ShownToken | null, name: string): unknown {
  return token?.claims?.[name]
}
