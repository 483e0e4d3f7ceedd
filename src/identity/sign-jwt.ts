import { createHmac, createPublicKey, generateKeyPair, type KeyObject, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'

/** The key that signs: the one that the verifier knows, or one that is registered nowhere. */
export type KeyChoice = 'registered' | 'unknown'

/** Members that replace those of a header or a claims set; null removes one. */
export type Overrides = Record<string, unknown>

const DIGESTS = ['256', '384', '512']

const signAsync = promisify(sign)

/**
 * Makes a compact JWT, signed with RS256 unless the header overrides `alg`: such a token is bad on purpose, as an attacker would make it.
 * Libraries refuse to make those, so this function does it by hand.
 */
export async function signJwt(header: Overrides, claims: Overrides, key: KeyObject): Promise<string> {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${(await signature(header.alg, input, key)).toString('base64url')}`
}

/** @returns true if {@link signJwt} made it with one of these keys; `none` and HMAC, which anybody can make, do not count */
export function isSignedBy(token: string, keys: readonly KeyObject[]): boolean {
  const end = token.lastIndexOf('.')
  const signature = Buffer.from(token.slice(end + 1), 'base64url')
  if (end < 0 || signature.length === 0) return false
  const input = Buffer.from(token.slice(0, end))
  return keys.some((key) => DIGESTS.some((bits) => verify(`sha${bits}`, input, key, signature)))
}

/** Applies the overrides to `base`. */
export function override(base: Overrides, overrides: Overrides = {}): Overrides {
  return Object.fromEntries(Object.entries({ ...base, ...overrides }).filter(([, value]) => value !== null))
}

async function signature(alg: unknown, input: string, key: KeyObject): Promise<Buffer> {
  const data = Buffer.from(input)
  const bits = /^[HR]S(256|384|512)$/.exec(String(alg))?.[1] ?? '256'
  if (alg === 'none') return Buffer.alloc(0)
  if (!String(alg).startsWith('HS')) return signAsync(`sha${bits}`, data, key)
  // The classic confusion: the public key, which is not secret, used as a shared secret.
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' })
  return createHmac(`sha${bits}`, publicPem).update(data).digest()
}

function encode(part: Overrides): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** A private key that is registered nowhere, made at the first request and kept: tokens signed with it must be refused. */
export class UnknownKey {
  #key: Promise<KeyObject> | undefined

  /** The key, if one was ever requested. */
  get made(): Promise<KeyObject> | undefined {
    return this.#key
  }

  get(): Promise<KeyObject> {
    this.#key ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 }).then(({ privateKey }) => privateKey)
    return this.#key
  }
}
