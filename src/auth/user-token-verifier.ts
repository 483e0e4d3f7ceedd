import type { JWTPayload } from 'jose'
import type { SandboxClock } from '../domain/clock.ts'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Tenant } from '../domain/records.ts'
import { instant, SignedTokens } from './signed-token.ts'
import { quote } from './signing-keys.ts'
import { TokenRefused } from './token-refused.ts'
import type { UserKeys } from './user-keys.ts'

/** What a verified user token says. */
export interface UserClaims {
  /** The end user's `external_id`. */
  sub: string
}

/** What the verifier of user tokens works with. */
export interface UserTokenVerifierOptions {
  audience: string
  /** Seconds that `iat` and `nbf` may be ahead. */
  leeway: number
  clock: SandboxClock
  keys: UserKeys
}

/** Verifies the partner-minted token of the `X-User-Token` header. */
export class UserTokenVerifier {
  readonly #tokens: SignedTokens<UserClaims>
  readonly #keys: UserKeys
  readonly #audience: string
  readonly #leeway: number

  constructor({ audience, leeway, clock, keys }: UserTokenVerifierOptions) {
    this.#tokens = new SignedTokens(clock)
    this.#keys = keys
    this.#audience = audience
    this.#leeway = leeway
  }

  /**
   * The end user the tenant vouches for. Throws {@link Problem} `invalid_user_token` for whatever is wrong with the
   * token, a missing one included (spec: User token 2 to 4; assumptions: user-token-issuer,
   * user-token-times).
   */
  async verify(token: string | undefined, tenant: Tenant): Promise<UserClaims> {
    if (!token) throw problem('The header X-User-Token is missing: a JWT signed with RS256 by the partner is expected.')
    const { tenant_id, issuer, user_keys } = tenant
    const expected = {
      audience: this.#audience,
      issuer,
      typ: 'JWT',
      required: ['sub', 'iss'],
      leeway: this.#leeway,
      read: (claims: JWTPayload, now: number) => readClaims(claims, now + this.#leeway),
    }
    try {
      return await this.#tokens.verify(token, `${tenant_id}\n${issuer}`, this.#keys.of(user_keys), expected)
    } catch (error) {
      if (error instanceof TokenRefused) throw problem(`The user token was refused: ${error.message}.`, error)
      throw error
    }
  }

  /** Forgets the tokens verified and the keys fetched so far. */
  clear(): void {
    this.#tokens.clear()
    this.#keys.clear()
  }
}

/** `cause` is what is wrong with the token that came, if one came. */
function problem(detail: string, cause?: TokenRefused): Problem {
  const headers = { 'www-authenticate': challengeOf('invalid_user_token', cause !== undefined) }
  return new Problem('invalid_user_token', { detail, param: 'X-User-Token', headers }, { cause })
}

function readClaims({ sub, iat }: JWTPayload, latest: number): UserClaims {
  if (typeof sub !== 'string' || sub === '') {
    throw new TokenRefused(`its sub is ${quote(sub)}; expected the external_id of an end user`)
  }
  if (iat !== undefined && iat > latest) {
    throw new TokenRefused(
      `it was issued at ${instant(iat)}, in the future; at most ${instant(latest)} is accepted now`,
    )
  }
  return { sub }
}
