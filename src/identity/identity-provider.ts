import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { SandboxClock } from '../domain/clock.ts'
import { directoryIdOf, issuerAt, uuidOf } from '../domain/idp-claims.ts'
import { OPERATIONS } from '../domain/operations.ts'
import type { Origin } from '../domain/origin.ts'
import type { Jwk, Tenant } from '../domain/records.ts'
import { isSignedBy, type KeyChoice, type Overrides, override, signJwt, type UnknownKey } from './sign-jwt.ts'

export interface IdentityProviderOptions {
  /** PKCS#8 PEM, RSA. */
  privateKeyPem: string
  kid: string
  /** Address of the sandbox, from which issuers follow. */
  origin: Origin
  /** Default `aud` of its tokens. */
  audience: string
  /** Default lifetime of a token, in seconds. */
  lifetime: number
  clock: SandboxClock
  unknownKey: UnknownKey
}

/** Differences of a token from the usual one. */
export interface IdpTokenRequest {
  /** Seconds; negative for a token that has expired. */
  lifetime?: number | undefined
  /** `aud`. */
  audience?: string | undefined
  /** `iss`; default: the provider under the sandbox's own URL. */
  issuer?: string | undefined
  /** The tenant as the address of the token endpoint names it, for `tid`; undefined: its directory. */
  tenantInAddress?: string | undefined
  claims?: Overrides | undefined
  header?: Overrides | undefined
  key?: KeyChoice | undefined
}

/** An access token, and its lifetime in seconds. */
export interface IdpToken {
  access_token: string
  expires_in: number
}

/** The mock identity provider: issues application tokens in the form of Entra ID v1. */
export class IdentityProvider {
  readonly #key: KeyObject
  readonly #options: IdentityProviderOptions

  /** Throws if the PEM holds no private key. */
  constructor(options: IdentityProviderOptions) {
    this.#options = options
    this.#key = createPrivateKey(options.privateKeyPem)
  }

  get origin(): Origin {
    return this.#options.origin
  }

  /** Issues a token for the tenant's application, a good one unless the request changes it (assumptions: idp-token-claims). */
  async issueToken(tenant: Tenant, request: IdpTokenRequest = {}): Promise<IdpToken> {
    const { audience, clock, kid, unknownKey } = this.#options
    const lifetime = request.lifetime ?? this.#options.lifetime
    const now = Math.floor(clock.wallNow() / 1000)
    const principal = uuidOf(`service principal of ${tenant.tenant_id}`) // `oid` and `sub` of an application token are equal
    const claims = {
      aud: request.audience ?? audience,
      iss: request.issuer ?? issuerAt(this.origin.url),
      // An expired token was issued before it expired.
      iat: now + Math.min(0, lifetime),
      nbf: now + Math.min(0, lifetime),
      exp: now + lifetime,
      appid: tenant.client_id,
      appidacr: '1',
      tid: request.tenantInAddress ?? directoryIdOf(tenant.tenant_id),
      oid: principal,
      sub: principal,
      roles: roles(tenant),
      ver: '1.0',
    }
    const header = override({ alg: 'RS256', kid, typ: 'JWT' }, request.header)
    const key = request.key === 'unknown' ? await unknownKey.get() : this.#key
    return { access_token: await signJwt(header, override(claims, request.claims), key), expires_in: lifetime }
  }

  /** @returns true if it signed this token, whatever the token's header says */
  async signed(token: string): Promise<boolean> {
    const unknown = await this.#options.unknownKey.made
    return isSignedBy(token, unknown ? [this.#key, unknown] : [this.#key])
  }

  /** The public key that verifies its tokens, as a JSON Web Key Set. */
  jwks(): { keys: Jwk[] } {
    const { kty, n, e } = createPublicKey(this.#key).export({ format: 'jwk' })
    if (!kty || !n || !e) throw new TypeError('the identity provider needs an RSA key')
    return { keys: [{ kty, n, e, kid: this.#options.kid, alg: 'RS256', use: 'sig' }] }
  }
}

function roles({ access }: Tenant): string[] {
  return access === 'all' ? OPERATIONS.filter((operation) => operation !== 'token') : access
}
