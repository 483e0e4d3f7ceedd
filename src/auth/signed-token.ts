import { type CryptoKey, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import type { SandboxClock } from '../domain/clock.ts'
import { decodeBase64 } from '../support/encodings.ts'
import { jsonExcess } from '../support/json.ts'
import { BoundedMap } from '../support/maps.ts'
import { type KeySource, quote } from './signing-keys.ts'
import { TokenRefused } from './token-refused.ts'

/** Requirements of a token, beside an RS256 signature by a known `kid` and valid times. */
export interface Expected<Claims> {
  /** The accepted audience, or a list of which the token must have one. */
  audience: string | string[]
  issuer?: string
  typ?: string
  /** Claims that must be present beside `aud` and `exp`. */
  required: string[]
  /** Seconds that `nbf` may be ahead; default 0. `exp` has no leeway. */
  leeway?: number
  /** Checks the claims and returns those that the verifier needs; `now` in seconds since the Unix epoch. Throws {@link TokenRefused}. */
  read(claims: JWTPayload, now: number): Claims
}

interface VerifiedToken<Claims> {
  claims: Claims
  exp: number
  /** Start of its validity, in seconds since the Unix epoch. */
  notBefore: number
  kid: string
  key: CryptoKey
}

interface RememberedToken<Claims> extends VerifiedToken<Claims> {
  token: string
  /** Keeps apart tokens that were verified against different expectations. */
  scope: string
}

const PARTS = ['header', 'payload', 'signature']

/**
 * Verifies compact RS256 JWTs and remembers those that passed, so that a signature is computed once per token; later only its times and
 * its key are checked. Time is wall-clock time (assumptions: Clocks).
 */
export class SignedTokens<Claims> {
  /** Keyed by the token alone: a key of scope and token would copy a kilobyte per request. */
  readonly #verified = new BoundedMap<string, RememberedToken<Claims>>(1000)
  /** The last one looked up: comparing two texts is faster than a map's look-up of a text of a kilobyte. */
  #latest: RememberedToken<Claims> | undefined
  readonly #pending = new Map<string, Promise<VerifiedToken<Claims>>>()

  constructor(private readonly clock: SandboxClock) {}

  /** The claims of a token that was verified before and is in force, for keys that never change. */
  remembered(token: string, scope: string): Claims | undefined {
    const known = this.#known(token)
    if (known?.scope !== scope || !this.#inForce(known)) return undefined
    this.#latest = known
    return known.claims
  }

  /** The claims of a token that was verified before, even if it has expired since. */
  everVerified(token: string, scope: string): Claims | undefined {
    const known = this.#known(token)
    return known?.scope === scope ? known.claims : undefined
  }

  /** Verifies a token; returns the result of `expected.read`. `scope` keeps different expectations apart. Throws {@link TokenRefused}. */
  async verify(token: string, scope: string, keys: KeySource, expected: Expected<Claims>): Promise<Claims> {
    const known = this.#verified.get(token)
    // A key that was withdrawn, or replaced under the same kid, invalidates the tokens that it signed.
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

  #known(token: string): RememberedToken<Claims> | undefined {
    return this.#latest?.token === token ? this.#latest : this.#verified.get(token)
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
    let signed: JWTPayload | undefined
    const find = (header: { kid?: unknown; crit?: unknown }) => {
      // RFC 7515 §4.1.11: this verifier supports no extension, not even b64, which jose supports.
      if (header.crit !== undefined) {
        const flaw = { aspect: 'crit', expected: 'no crit', came: quote(header.crit) }
        throw new TokenRefused('its header has crit, and no extension is understood', flaw)
      }
      if (typeof header.kid !== 'string' || header.kid === '') {
        throw new TokenRefused('its header has no kid', { aspect: 'kid', expected: 'the kid of a key', came: 'none' })
      }
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
      signed = payload
      const { exp, nbf = 0 } = payload
      // JSON reads 1e999 as infinity, which would make a token that never expires.
      if (!Number.isFinite(exp) || exp === undefined) {
        const flaw = { aspect: 'exp', expected: 'a finite number of seconds', came: quote(exp) }
        throw new TokenRefused('its exp is not a finite number', flaw)
      }
      if (exp <= now) throw expired(exp, now)
      return { claims: read(payload, now), exp, notBefore: nbf - leeway, kid, key }
    } catch (error) {
      const refused = explain(error, token, expected, now)
      if (refused instanceof TokenRefused) refused.signed = signed ?? signedClaims(error)
      throw refused
    }
  }
}

/** The claims that jose refused; it checks claims only after the signature. */
function signedClaims(error: unknown): JWTPayload | undefined {
  const ofClaims = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed
  return ofClaims ? error.payload : undefined
}

/**
 * RFC 7515 §2: no whitespace, no padding, no other characters. jose decodes leniently, so that one token would have many texts. JSON too
 * deep for recursion is refused as well: a refusal quotes parts of it, and that is written by recursion.
 */
function requireReadable(token: string): void {
  for (const [at, part] of token.split('.', PARTS.length).entries()) {
    const bytes = decodeBase64(part, 'base64url')
    if (!bytes) {
      const why = `its ${PARTS[at]} has padding, whitespace, unused bits that are not zero or other characters`
      throw malformed(why)
    }
    const excess = PARTS[at] === 'signature' ? undefined : jsonExcess(bytes.toString())
    if (excess !== undefined) throw new TokenRefused(`its ${PARTS[at]} ${excess}`, { aspect: 'token', came: excess })
  }
}

/** An instant given in seconds, as ISO 8601 if that can express it. */
export function instant(seconds: unknown): string {
  return typeof seconds === 'number' && Math.abs(seconds) <= 8.64e12
    ? new Date(seconds * 1000).toISOString()
    : quote(seconds)
}

function expired(exp: unknown, now: number): TokenRefused {
  const flaw = { aspect: 'exp', expected: `later than ${instant(now)}`, came: `${instant(exp)}${ahead(exp, now)}` }
  return new TokenRefused(`it expired at ${instant(exp)}; it is ${instant(now)} now`, flaw)
}

/** Distance of a token's time from now, both in seconds: it shows a reader whose clock is wrong. */
export function ahead(time: unknown, now: number): string {
  if (typeof time !== 'number' || !Number.isFinite(time)) return ''
  return time > now ? `, ${time - now} s ahead` : `, ${now - time} s ago`
}

function malformed(why: string): TokenRefused {
  const flaw = { aspect: 'token', expected: 'a signed JWT of three base64url parts', came: why }
  return new TokenRefused(`it is not a signed JWT of three base64url parts (${why})`, flaw)
}

/** Converts an error of jose to a refusal that names the expected and the actual value. Other errors are returned unchanged. */
function explain(error: unknown, token: string, expected: Expected<unknown>, now: number): unknown {
  if (error instanceof errors.JWTExpired) {
    return expired(error.payload.exp, now)
  }
  if (error instanceof errors.JWTClaimValidationFailed) return wrongClaim(error, token, expected, now)
  if (error instanceof errors.JOSEAlgNotAllowed) {
    const came = quote(decodeProtectedHeader(token).alg)
    return new TokenRefused(`its alg is ${came}; expected "RS256"`, { aspect: 'alg', expected: '"RS256"', came })
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    const key = `the key ${quote(decodeProtectedHeader(token).kid)}`
    const flaw = { aspect: 'signature', expected: `made with ${key}`, came: 'made with another one' }
    return new TokenRefused(`its signature was not made with ${key}`, flaw)
  }
  if (error instanceof errors.JOSEError) {
    return malformed(error.message)
  }
  return error
}

function wrongClaim(
  { claim, reason, payload }: errors.JWTClaimValidationFailed,
  token: string,
  expected: Expected<unknown>,
  now: number,
): TokenRefused {
  if (reason === 'missing' && claim !== 'typ') {
    return new TokenRefused(`its claim ${claim} is missing`, { aspect: claim, came: 'nothing' })
  }
  if (claim === 'nbf' && reason === 'check_failed') {
    const { nbf } = payload
    const flaw = { aspect: 'nbf', expected: `at most ${instant(now)}`, came: `${instant(nbf)}${ahead(nbf, now)}` }
    return new TokenRefused(`it is not valid before ${instant(nbf)}; it is ${instant(now)} now`, flaw)
  }
  const { what, came, wanted } = misfit(claim, payload[claim], token, expected)
  return new TokenRefused(`its ${what} is ${came}; expected ${wanted}`, { aspect: claim, expected: wanted, came })
}

/** In words: the part that is wrong, its value, and the expected value. */
function misfit(claim: string, value: unknown, token: string, expected: Expected<unknown>) {
  if (claim === 'typ') {
    return { what: 'header typ', came: quote(decodeProtectedHeader(token).typ), wanted: quote(expected.typ) }
  }
  const came = quote(value)
  if (claim === 'aud') return { what: 'aud', came, wanted: [expected.audience].flat().map(quote).join(' or ') }
  if (claim === 'iss') return { what: 'iss', came, wanted: quote(expected.issuer) }
  return { what: `claim ${claim}`, came, wanted: 'a number of seconds' }
}
