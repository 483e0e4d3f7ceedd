import { type CryptoKey, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import type { SandboxClock } from '../domain/clock.ts'
import { BoundedMap } from '../support/bounded-map.ts'
import { decodeBase64 } from '../support/decode-base64.ts'
import { jsonExcess } from '../support/json-excess.ts'
import { type KeySource, quote } from './signing-keys.ts'
import { TokenRefused } from './token-refused.ts'

/** What a token must be, beside RS256-signed by a known `kid` and in force. */
export interface Expected<Claims> {
  /** One of them. */
  audience: string | string[]
  issuer?: string
  typ?: string
  /** Claims that must be there beside `aud` and `exp`. */
  required: string[]
  /** Seconds that `nbf` may be ahead; 0 when not given. `exp` has no leeway. */
  leeway?: number
  /** What the verifier wants of the claims; `now` in seconds since the Unix epoch. Throws {@link TokenRefused}. */
  read(claims: JWTPayload, now: number): Claims
}

interface VerifiedToken<Claims> {
  claims: Claims
  exp: number
  /** From when on it counts, in seconds since the Unix epoch. */
  notBefore: number
  kid: string
  key: CryptoKey
}

interface RememberedToken<Claims> extends VerifiedToken<Claims> {
  token: string
  /** What it was verified for. */
  scope: string
}

const PARTS = ['header', 'payload', 'signature']

/**
 * Verifies compact RS256 JWTs and remembers those that passed, so that a signature is computed once per token: afterwards
 * only its times and its key are looked at. Time is wall-clock time (assumptions: Clocks).
 */
export class SignedTokens<Claims> {
  /** By token alone: joining it and the scope for a key would copy a kilobyte a request. */
  readonly #verified = new BoundedMap<string, RememberedToken<Claims>>(1000)
  /** The one asked for last: that two texts are the same is seen faster than where a map has one of a kilobyte. */
  #latest: RememberedToken<Claims> | undefined
  readonly #pending = new Map<string, Promise<VerifiedToken<Claims>>>()

  constructor(private readonly clock: SandboxClock) {}

  /** What was made of a token that was verified before and is in force, for keys that never change. */
  remembered(token: string, scope: string): Claims | undefined {
    const known = this.#latest?.token === token ? this.#latest : this.#verified.get(token)
    if (known?.scope !== scope || !this.#inForce(known)) return undefined
    this.#latest = known
    return known.claims
  }

  /** What `expected.read` made of the token. `scope` keeps different expectations apart. Throws {@link TokenRefused}. */
  async verify(token: string, scope: string, keys: KeySource, expected: Expected<Claims>): Promise<Claims> {
    const known = this.#verified.get(token)
    // A key that was taken back, or replaced under the same kid, ends the tokens it signed.
    if (known?.scope === scope && this.#inForce(known) && (await keys.find(known.kid)) === known.key)
      return known.claims
    const id = `${scope}\n${token}`
    let pending = this.#pending.get(id)
    if (!pending) {
      pending = this.#verify(token, keys, expected).finally(() => this.#pending.delete(id))
      this.#pending.set(id, pending)
    }
    const verified = await pending
    this.#verified.set(token, { ...verified, token, scope })
    return verified.claims
  }

  clear(): void {
    this.#verified.clear()
    this.#latest = undefined
  }

  #now(): number {
    return Math.floor(this.clock.wallNow() / 1000)
  }

  #inForce({ exp, notBefore }: VerifiedToken<Claims>): boolean {
    const now = this.#now()
    return notBefore <= now && now < exp
  }

  async #verify(token: string, keys: KeySource, expected: Expected<Claims>): Promise<VerifiedToken<Claims>> {
    const { read, required, leeway = 0, ...names } = expected
    const now = this.#now()
    let kid = ''
    const find = (header: { kid?: unknown }) => {
      if (typeof header.kid !== 'string' || header.kid === '') throw new TokenRefused('its header has no kid')
      kid = header.kid
      return keys.find(kid)
    }
    try {
      requireReadable(token)
      const { payload, key } = await jwtVerify<JWTPayload, CryptoKey>(token, find, {
        ...names,
        algorithms: ['RS256'],
        requiredClaims: ['exp', ...required],
        currentDate: new Date(now * 1000),
        clockTolerance: leeway,
      })
      const { exp, nbf = 0 } = payload
      // JSON reads 1e999 as infinity: a token that never expires.
      if (!Number.isFinite(exp) || exp === undefined) throw new TokenRefused('its exp is not a finite number')
      if (exp <= now) throw expired(exp, now)
      return { claims: read(payload, now), exp, notBefore: nbf - leeway, kid, key }
    } catch (error) {
      throw explain(error, token, expected, now)
    }
  }
}

/**
 * RFC 7515 §2: no whitespace, no padding, nothing else. jose decodes leniently, so that one token would have many texts. And
 * no JSON that recursion cannot survive: what a refusal quotes of it is written by recursion.
 */
function requireReadable(token: string): void {
  for (const [at, part] of token.split('.', PARTS.length).entries()) {
    const bytes = decodeBase64(part, 'base64url')
    if (!bytes) {
      const why = `its ${PARTS[at]} has padding, whitespace, unused bits that are not zero or other characters`
      throw new TokenRefused(`it is not a signed JWT of three base64url parts (${why})`)
    }
    const excess = PARTS[at] === 'signature' ? undefined : jsonExcess(bytes.toString())
    if (excess !== undefined) throw new TokenRefused(`its ${PARTS[at]} ${excess}`)
  }
}

/** An instant given in seconds, as ISO 8601 where it can be written so. */
export function instant(seconds: unknown): string {
  return typeof seconds === 'number' && Math.abs(seconds) <= 8.64e12
    ? new Date(seconds * 1000).toISOString()
    : quote(seconds)
}

function expired(exp: unknown, now: number): TokenRefused {
  return new TokenRefused(`it expired at ${instant(exp)}; it is ${instant(now)} now`)
}

/** Turns what jose found into the sentence that helps: what was expected, what came. Faults of the program stay as they are. */
function explain(error: unknown, token: string, expected: Expected<unknown>, now: number): unknown {
  if (error instanceof errors.JWTExpired) {
    return expired(error.payload.exp, now)
  }
  if (error instanceof errors.JWTClaimValidationFailed)
    return new TokenRefused(explainClaim(error, token, expected, now))
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new TokenRefused(`its alg is ${quote(decodeProtectedHeader(token).alg)}; expected "RS256"`)
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenRefused(`its signature was not made with the key ${quote(decodeProtectedHeader(token).kid)}`)
  }
  if (error instanceof errors.JOSEError) {
    return new TokenRefused(`it is not a signed JWT of three base64url parts (${error.message})`)
  }
  return error
}

function explainClaim(
  { claim, reason, payload }: errors.JWTClaimValidationFailed,
  token: string,
  expected: Expected<unknown>,
  now: number,
): string {
  if (claim === 'typ')
    return `its header typ is ${quote(decodeProtectedHeader(token).typ)}; expected ${quote(expected.typ)}`
  if (reason === 'missing') return `its claim ${claim} is missing`
  if (claim === 'aud') {
    return `its aud is ${quote(payload.aud)}; expected ${[expected.audience].flat().map(quote).join(' or ')}`
  }
  if (claim === 'iss') return `its iss is ${quote(payload.iss)}; expected ${quote(expected.issuer)}`
  if (claim === 'nbf' && reason === 'check_failed') {
    return `it is not valid before ${instant(payload.nbf)}; it is ${instant(now)} now`
  }
  return `its claim ${claim} is ${quote(payload[claim])}; expected a number of seconds`
}
