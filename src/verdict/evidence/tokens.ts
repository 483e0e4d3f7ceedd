import type { RecordedExchange, ShownToken } from '../../traffic/recorded-exchange.ts'
import { endedAt, struckBy, succeeded } from './answers.ts'

/** Milliseconds before its expiry at which a token must no longer be used. spec: Identity-provider token 3 */
export const LAST_MINUTE = 60_000

/** Faults by which the identity provider issues tokens that the service refuses. */
const SPOILING = ['token_expired', 'bad_signature', 'token_wrong_audience']

/**
 * An access token in the traffic. Tokens that are issued within the same second are equal: they count as one that was
 * fetched more than once.
 */
export interface IdpTokenUse {
  fingerprint: string
  /** The token requests that got it, oldest first. */
  fetches: RecordedExchange[]
  /** By the latest `expires_in`, counted from the end of the answer: milliseconds since the Unix epoch. */
  expiresAt: number
  /** True if the service refuses it, whatever `expires_in` says. */
  spoiled: boolean
  /** Requests to the service that sent it, oldest first. */
  uses: RecordedExchange[]
}

/** @returns true if it is a token request that got a token */
export function isFetch(exchange: RecordedExchange): boolean {
  return succeeded(exchange) && Boolean(exchange.response?.issued)
}

/** Fingerprint of the token that a token request got, or that another request sent. */
export function idpTokenOf({ operation, request, response }: RecordedExchange): string | undefined {
  return operation === 'token' ? response?.issued?.token.fingerprint : request.idp_token?.fingerprint
}

/** Every access token that was issued on record, by fingerprint. */
export function idpTokens(exchanges: readonly RecordedExchange[]): Map<string, IdpTokenUse> {
  const tokens = new Map<string, IdpTokenUse>()
  for (const exchange of exchanges) {
    const fingerprint = idpTokenOf(exchange)
    if (fingerprint === undefined) continue
    const known = tokens.get(fingerprint)
    if (exchange.operation !== 'token') known?.uses.push(exchange)
    if (!isFetch(exchange)) continue
    const token = known ?? { fingerprint, fetches: [], expiresAt: 0, spoiled: false, uses: [] }
    token.fetches.push(exchange)
    token.expiresAt = endedAt(exchange) + (exchange.response?.issued?.expires_in ?? 0) * 1000
    token.spoiled ||= struckBy(exchange, ...SPOILING)
    tokens.set(fingerprint, token)
  }
  return tokens
}

/** A key that is the same for a request and its repetition; excludes tokens and body, since a refused one may have no body on record. */
export function requestSignature({ operation, tenant, request }: RecordedExchange): string {
  return JSON.stringify([operation, tenant, request.path, request.query])
}

/** Every user token once, with the first exchange that sent it. Tokens that are not JWTs are left out. */
export function userTokens(exchanges: readonly RecordedExchange[]): (ShownToken & { exchange: RecordedExchange })[] {
  const tokens = new Map<string, ShownToken & { exchange: RecordedExchange }>()
  for (const exchange of exchanges) {
    const token = exchange.request.user_token
    if (!token?.header || !token.claims || tokens.has(token.fingerprint)) continue
    tokens.set(token.fingerprint, { ...token, exchange })
  }
  return [...tokens.values()]
}
