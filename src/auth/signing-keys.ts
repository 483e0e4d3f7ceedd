import { createPublicKey } from 'node:crypto'
import { type CryptoKey, importJWK } from 'jose'
import type { Jwk } from '../domain/records.ts'
import { TokenRefused } from './token-refused.ts'

/** A key that verifies RS256 signatures, with the modulus and exponent that it was imported from. */
export interface SigningKey {
  n: string
  e: string
  key: CryptoKey
}

/** Keys by `kid`. A Map, so that a `kid` such as `__proto__` finds nothing. */
export type SigningKeys = ReadonlyMap<string, SigningKey>

/** Source of the keys of tokens. */
export interface KeySource {
  /** Throws {@link TokenRefused} with the reason if there is no usable key of that `kid`. */
  find(kid: string): Promise<CryptoKey>
}

const MIN_MODULUS_BITS = 2048

/**
 * Imports the RSA signing keys of at least 2048 bits of a key set and ignores all others; of two with the same `kid` the first counts. A
 * key already in `known` keeps its identity, so that tokens verified with it stay verified.
 */
export async function importSigningKeys(keys: readonly unknown[], known?: SigningKeys): Promise<SigningKeys> {
  const imported = new Map<string, SigningKey>()
  for (const jwk of keys) {
    if (!isSigningJwk(jwk) || imported.has(jwk.kid)) continue
    const before = known?.get(jwk.kid)
    const key = before?.n === jwk.n && before.e === jwk.e ? before : await importKey(jwk)
    if (key) imported.set(jwk.kid, key)
  }
  return imported
}

/** Imports the key of a PEM: a public key (SPKI or PKCS#1) or a certificate. Empty if the PEM holds neither, or a key that is not RSA. */
export async function importSigningPem(pem: string, kid: string): Promise<SigningKeys> {
  let jwk: object
  try {
    jwk = createPublicKey(pem).export({ format: 'jwk' })
  } catch {
    return new Map()
  }
  return importSigningKeys([{ ...jwk, kid }])
}

/** Keys that are given once and never change; imported at first use. */
export class InlineKeys implements KeySource {
  #keys: Promise<SigningKeys> | undefined

  constructor(private readonly load: () => Promise<SigningKeys>) {}

  async find(kid: string): Promise<CryptoKey> {
    this.#keys ??= this.load()
    const keys = await this.#keys
    const found = keys.get(kid)
    if (!found) throw unknownKid(kid, keys)
    return found.key
  }
}

/** Builds the refusal of an unknown `kid`. */
export function unknownKid(kid: string, known: SigningKeys): TokenRefused {
  const expected = [...known.keys()].slice(0, 5).map(quote).join(' or ') || 'a key that is registered: there is none'
  const flaw = { aspect: 'kid', expected, came: quote(kid) }
  return new TokenRefused(`no RSA signing key of at least ${MIN_MODULUS_BITS} bits has its kid ${quote(kid)}`, flaw)
}

/** A value of a token in the form that messages may show: JSON, shortened. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

type SigningJwk = Jwk & { kid: string; n: string; e: string }

function isSigningJwk(value: unknown): value is SigningJwk {
  if (typeof value !== 'object' || value === null) return false
  const { kty, kid, n, e, use = 'sig', alg = 'RS256', key_ops: operations = ['verify'] } = value as Jwk
  const forSignatures = use === 'sig' && Array.isArray(operations) && operations.includes('verify')
  const complete = typeof kid === 'string' && kid !== '' && typeof n === 'string' && typeof e === 'string'
  return kty === 'RSA' && alg === 'RS256' && forSignatures && complete
}

async function importKey({ n, e }: SigningJwk): Promise<SigningKey | undefined> {
  try {
    // Only the public members: if a partner published the private ones by mistake, the key is still imported as a public one.
    const key = await importJWK({ kty: 'RSA', n, e }, 'RS256')
    if (key instanceof Uint8Array || modulusBits(key) < MIN_MODULUS_BITS) return undefined
    return { n, e, key }
  } catch {
    return undefined
  }
}

function modulusBits(key: CryptoKey): number {
  return 'modulusLength' in key.algorithm ? Number(key.algorithm.modulusLength) : 0
}
