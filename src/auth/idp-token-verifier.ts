import { decodeJwt, type JWTPayload } from 'jose'
import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { isIssuer, issuerAt } from '../domain/idp-claims.ts'
import type { Origin } from '../domain/origin.ts'
import type { Jwk } from '../domain/records.ts'
import { type Expected, SignedTokens } from './signed-token.ts'
import { InlineKeys, importSigningKeys, quote } from './signing-keys.ts'
import { TokenRefused } from './token-refused.ts'

/** Claims of a verified identity-provider token. */
export interface IdpClaims {
  /** The partner application: `client_id` of its tenant. */
  appid: string
  /** Directory or `tenant_id` of that tenant, in a correct token; the verifier does not know tenants and cannot check it. */
  tid: string
  [claim: string]: unknown
}

export interface IdpTokenVerifierOptions {
  /** The identity provider's public keys. */
  jwks: { keys: Jwk[] }
  /** Accepted values of `aud`; one of them must be in the token. */
  audiences: readonly string[]
  /** Address of the sandbox, from which the accepted issuers follow. */
  origin: Origin
  /** @returns true if this sandbox signed it, with any key and header: it also issues tokens that are bad on purpose */
  isOwn(token: string): Promise<boolean>
  clock: SandboxClock
  /** Seconds that `nbf` may be ahead: the machine may set back the clock that its own tokens were signed by. Default 0. */
  leeway?: number
}

/** Result of looking at the token of an `Authorization` header. */
export interface SeenToken {
  /** Its `appid`, if the sandbox signed it, even if it is refused. */
  client: string | undefined
  /** The refusal; undefined if the token is accepted. */
  refusal: Problem | undefined
}

/** RFC 6750 §2.1. Matches the scheme only: a pattern for the whole header would read a kilobyte for every request. */
const SCHEME = /^bearer +(?=[^ ])/i

/** Verifies the access token of the `Authorization` header. */
export class IdpTokenVerifier {
  readonly #tokens: SignedTokens<IdpClaims>
  readonly #keys: InlineKeys
  readonly #expected: Expected<IdpClaims>
  readonly #isOwn: IdpTokenVerifierOptions['isOwn']
  /** The header looked at last and its token, which depends on nothing else: to take it out reads a kilobyte, and most requests have the same. */
  #last: { authorization: string; token: string | undefined } = { authorization: '', token: undefined }

  constructor({ jwks, audiences, origin, isOwn, clock, leeway = 0 }: IdpTokenVerifierOptions) {
    this.#isOwn = isOwn
    this.#tokens = new SignedTokens(clock)
    this.#keys = new InlineKeys(() => importSigningKeys(jwks.keys))
    this.#expected = {
      audience: [...audiences],
      required: ['iss', 'appid', 'tid'],
      leeway,
      read: (claims) => readClaims(claims, origin),
    }
  }

  /**
   * Returns the token's claims, at once if it was verified before. Throws {@link Problem} `token_missing` if the header holds no bearer
   * token, and `invalid_idp_token` if it is expired, malformed, not for this audience (spec: Identity-provider token 5, 6) or not of the
   * identity provider (assumption `idp-token-issuer`). `seen`: the result of {@link IdpTokenVerifier.see}.
   */
  verify(authorization: string | undefined, seen?: Pick<SeenToken, 'refusal'>): IdpClaims | Promise<IdpClaims> {
    if (seen?.refusal) throw seen.refusal
    const token = this.#tokenOf(authorization) ?? tokenMissing(authorization)
    return this.#tokens.remembered(token, 'idp') ?? this.#verify(token)
  }

  /** The client of a token that was verified before; undefined for any other token. */
  knownClient(authorization: string | undefined): string | undefined {
    const token = this.#tokenOf(authorization)
    return token !== undefined ? this.#tokens.everVerified(token, 'idp')?.appid : undefined
  }

  /** Verifies the token to find its client. A refused token has a client too, if the sandbox signed it. */
  async see(authorization: string | undefined): Promise<SeenToken> {
    try {
      return { client: (await this.verify(authorization)).appid, refusal: undefined }
    } catch (refusal) {
      if (!(refusal instanceof Problem)) throw refusal
      return { client: await this.#clientOfRefused(refusal, authorization), refusal }
    }
  }

  async #clientOfRefused({ cause }: Problem, authorization?: string): Promise<string | undefined> {
    if (cause instanceof TokenRefused && cause.signed) return textOf(cause.signed.appid)
    const token = this.#tokenOf(authorization)
    return token !== undefined && (await this.#isOwn(token)) ? textOf(decodeJwt(token).appid) : undefined
  }

  async #verify(token: string): Promise<IdpClaims> {
    try {
      return await this.#tokens.verify(token, 'idp', this.#keys, this.#expected)
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const detail = `The identity-provider token was refused: ${error.message}.`
      throw new Problem('invalid_idp_token', { detail, param: 'Authorization', ...error.flaw }, { cause: error })
    }
  }

  #tokenOf(authorization = ''): string | undefined {
    if (authorization !== this.#last.authorization) this.#last = { authorization, token: tokenOf(authorization) }
    return this.#last.token
  }

  /** Forgets the tokens verified so far. */
  clear(): void {
    this.#tokens.clear()
  }
}

/** The token of an `Authorization` header; undefined if it holds none. */
function tokenOf(authorization: string): string | undefined {
  const text = authorization.trim()
  const scheme = SCHEME.exec(text)?.[0]
  return scheme === undefined ? undefined : text.slice(scheme.length)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function tokenMissing(authorization: string | undefined): never {
  const came = authorization ? 'the Authorization header holds none' : 'there is no Authorization header'
  const detail = `An access token is expected as "Authorization: Bearer <token>"; ${came}.`
  const expected = 'Authorization: Bearer <token>'
  throw new Problem('token_missing', { detail, param: 'Authorization', expected, came })
}

function readClaims(claims: JWTPayload, origin: Origin): IdpClaims {
  const { appid, tid, ver, iss } = claims
  if (!isIssuer(iss, tid, origin)) {
    throw wrong('iss', iss, quote(issuerAt(origin.url)))
  }
  if (typeof appid !== 'string' || appid === '') {
    throw wrong('appid', appid, 'a client id')
  }
  if (ver !== '1.0') throw wrong('ver', ver, '"1.0"')
  if (typeof tid !== 'string') throw wrong('tid', tid, 'a tenant id')
  return { ...claims, appid, tid }
}

function wrong(claim: string, value: unknown, expected: string): TokenRefused {
  const came = quote(value)
  return new TokenRefused(`its ${claim} is ${came}; expected ${expected}`, { aspect: claim, expected, came })
}
