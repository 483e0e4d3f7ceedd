import { decodeJwt, type JWTPayload } from 'jose'
import type { SandboxClock } from '../domain/clock.ts'
import { challengeOf, type ErrorCode, Problem } from '../domain/errors.ts'
import type { Tenant } from '../domain/records.ts'
import { ahead, instant, SignedTokens } from './signed-token.ts'
import { quote } from './signing-keys.ts'
import { TokenRefused } from './token-refused.ts'
import type { UserKeys } from './user-keys.ts'

/** Claims of a verified user token. */
export interface UserClaims {
  /** The end user's `external_id`. */
  sub: string
}

export interface UserTokenVerifierOptions {
  audience: string
  /** Seconds that `iat` and `nbf` may be ahead. */
  leeway: number
  /** Issuers of all tenants, to answer a wrong issuer with a code of its own; without them, all flaws have one code. */
  issuers?: ReadonlySet<string> | undefined
  clock: SandboxClock
  keys: UserKeys
}

/** Verifies the partner-minted token of the `X-User-Token` header. */
export class UserTokenVerifier {
  readonly #tokens: SignedTokens<UserClaims>
  readonly #keys: UserKeys
  readonly #audience: string
  readonly #leeway: number
  readonly #issuers: ReadonlySet<string> | undefined

  constructor({ audience, leeway, clock, keys, issuers }: UserTokenVerifierOptions) {
    this.#issuers = issuers
    this.#tokens = new SignedTokens(clock)
    this.#keys = keys
    this.#audience = audience
    this.#leeway = leeway
  }

  /**
   * Returns the end user for whom the tenant vouches. Throws {@link Problem} `invalid_user_token` for any flaw of the token, and for a
   * missing one; with `issuers`, a wrong issuer has a code of its own (spec: User token 2 to 4; assumptions: user-token-issuer,
   * user-token-times).
   */
  async verify(token: string | undefined, tenant: Tenant): Promise<UserClaims> {
    if (!token)
      throw problem(
        'invalid_user_token',
        'The header X-User-Token is missing: a JWT signed with RS256 by the partner is expected.',
      )
    const { tenant_id, issuer, user_keys } = tenant
    const expected = {
      audience: this.#audience,
      issuer,
      typ: 'JWT',
      required: ['sub', 'iss'],
      leeway: this.#leeway,
      read: (claims: JWTPayload, now: number) => readClaims(claims, now, this.#leeway),
    }
    try {
      return await this.#tokens.verify(token, `${tenant_id}\n${issuer}`, this.#keys.of(user_keys), expected)
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      throw problem(this.#codeFor(token, tenant), `The user token was refused: ${error.message}.`, error)
    }
  }

  /** By the issuer that the token claims, unverified: a tenant's keys are looked up under the tenant's own issuer. */
  #codeFor(token: string, { issuer }: Tenant): ErrorCode {
    const claimed = this.#issuers && claimedIssuer(token)
    if (claimed === undefined || claimed === issuer) return 'invalid_user_token'
    return this.#issuers?.has(claimed) ? 'cross_tenant_jwt' : 'unknown_partner_issuer'
  }

  /** Forgets the tokens verified and the keys fetched so far. */
  clear(): void {
    this.#tokens.clear()
    this.#keys.clear()
  }
}

/** `cause` is the flaw of the token; undefined if the request had none. */
function problem(code: ErrorCode, detail: string, cause?: TokenRefused): Problem {
  const headers = { 'www-authenticate': challengeOf(code, cause !== undefined) }
  const flaw = cause?.flaw ?? { aspect: 'X-User-Token', expected: 'a JWT signed with RS256', came: 'nothing' }
  return new Problem(code, { detail, param: 'X-User-Token', headers, ...flaw }, { cause })
}

/** Undefined if the token claims none, or is not a JWT. */
function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

function readClaims({ sub, iat }: JWTPayload, now: number, leeway: number): UserClaims {
  const latest = now + leeway
  if (typeof sub !== 'string' || sub === '') {
    const flaw = { aspect: 'sub', expected: 'the external_id of an end user', came: quote(sub) }
    throw new TokenRefused(`its sub is ${quote(sub)}; expected the external_id of an end user`, flaw)
  }
  if (iat !== undefined && iat > latest) {
    throw new TokenRefused(
      `it was issued at ${instant(iat)}, in the future; at most ${instant(latest)} is accepted now`,
      { aspect: 'iat', expected: `at most ${instant(latest)}`, came: `${instant(iat)}${ahead(iat, now)}` },
    )
  }
  return { sub }
}
