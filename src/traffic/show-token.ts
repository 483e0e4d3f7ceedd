import { createHash } from 'node:crypto'
import { jsonExcess, jsonObject } from '../support/json.ts'
import type { ShownToken } from './recorded-exchange.ts'

/** Decides which parts of a token may be shown. */
interface TokenRedactor {
  /** Tokens shown lately. */
  tokens: Map<string, ShownToken>
  claims(claims: Record<string, unknown>): Record<string, unknown>
}

/** A token without its signature; null for no token. */
export function showToken(token: string | undefined, redactor: TokenRedactor): ShownToken | null {
  if (!token) return null
  const known = redactor.tokens.get(token)
  if (known) return known
  const [header, claims] = [partOf(token, 0), partOf(token, 1)]
  const shown = {
    fingerprint: fingerprintOf(token),
    header: header ? redactor.claims(header) : null,
    claims: claims ? redactor.claims(claims) : null,
  }
  redactor.tokens.set(token, shown)
  return shown
}

/** Names a token without revealing anything of it: 12 hexadecimal digits of its SHA-256. */
export function fingerprintOf(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 12)
}

/** The claims of a JWT, unverified; undefined if the token is not a JWT. */
export function claimsOf(token: string | undefined): Record<string, unknown> | undefined {
  return token === undefined ? undefined : partOf(token, 1)
}

/** The token of an `Authorization` header; undefined for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1]
}

function partOf(token: string, at: number): Record<string, unknown> | undefined {
  const part = token.split('.', 3)[at]
  if (!part) return undefined
  const text = Buffer.from(part, 'base64url').toString()
  // A value that nests too deep could not be written as JSON again.
  return jsonExcess(text) === undefined ? jsonObject(text) : undefined
}
