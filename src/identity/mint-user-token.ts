import { createPrivateKey } from 'node:crypto'
import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Tenant } from '../domain/records.ts'
import { type KeyChoice, type Overrides, override, signJwt, type UnknownKey } from './sign-jwt.ts'

/** The requested user token: good unless overridden. */
export interface UserTokenRequest {
  external_id: string
  /** Seconds from now, default 3600; negative for an expired token. */
  expires_in?: number | undefined
  claims?: Overrides | undefined
  header?: Overrides | undefined
  key?: KeyChoice | undefined
}

/** A user token; `expires_at` is ISO 8601 and ignores an overridden `exp`. */
export interface UserToken {
  token: string
  expires_at: string
}

export interface UserTokenMint {
  audience: string
  clock: SandboxClock
  unknownKey: UnknownKey
}

const HUNDRED_YEARS = 100 * 365 * 24 * 60 * 60

/**
 * Mints the user token that the partner would mint (spec: User token 2, 3). Throws {@link Problem} `validation_error` if only the
 * partner holds the tenant's private key, or if the lifetime is over a hundred years.
 */
export async function mintUserToken(
  tenant: Tenant,
  request: UserTokenRequest,
  mint: UserTokenMint,
): Promise<UserToken> {
  const { external_id, expires_in = 3600, key = 'registered' } = request
  if (tenant.private_key_pem === undefined) {
    const detail = `The sandbox does not hold the private key of tenant ${tenant.slug}: mint its user tokens with your own.`
    throw new Problem('validation_error', { detail })
  }
  if (!(Math.abs(expires_in) <= HUNDRED_YEARS)) {
    const detail = `expires_in must be a number of seconds, at most ${HUNDRED_YEARS}.`
    throw new Problem('validation_error', { detail, param: 'expires_in' })
  }
  const now = Math.floor(mint.clock.wallNow() / 1000)
  const exp = now + expires_in
  const claims = { sub: external_id, iss: tenant.issuer, aud: mint.audience, iat: now + Math.min(0, expires_in), exp }
  const header = override({ alg: 'RS256', kid: tenant.kid ?? null, typ: 'JWT' }, request.header)
  const signingKey = key === 'unknown' ? await mint.unknownKey.get() : createPrivateKey(tenant.private_key_pem)
  return {
    token: await signJwt(header, override(claims, request.claims), signingKey),
    expires_at: new Date(exp * 1000).toISOString(),
  }
}
