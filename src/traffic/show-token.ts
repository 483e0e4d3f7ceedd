import { createHash } from 'node:crypto'
import { jsonExcess, jsonObject } from '../support/json.ts'
import type { ShownToken } from './recorded-exchange.ts'

/** Decides what of a token may be shown. */
interface TokenRedactor {
  /** Those shown lately. */
  tokens: Map<string, ShownToken>
  claims(claims: Record<string, unknown>): Record<string, unknown>
}

/** A token without its signature; null for no token at all. */
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

/** Names a token without telling anything of it. */
export function fingerprintOf(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 12)
}

/** What a JWT claims, unverified; undefined when it is none. */
export function claimsOf(token: string | undefined): Record<string, unknown> | undefined {
  return token === undefined ? undefined : partOf(token, 1)
}

/** The token of an `Authorization` header; undefined when it is of another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1]
}

function partOf(token: string, at: number): Record<string, unknown> | undefined {
  const part = token.split('.', 3)[at]
  if (!part) return undefined
  const text = Buffer.from(part, 'base64url').toString()
  // What nests too deep cannot be written as JSON again.
  return jsonExcess(text) === undefined ? jsonObject(text) : undefined
}
