import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type JWTPayload, SignJWT } from 'jose'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Problem } from '../../src/domain/errors.ts'
import type { Jwk, Tenant, UserKeySource } from '../../src/domain/records.ts'
import type { Logger } from '../../src/support/logger.ts'

export const AUDIENCE = 'api://yield-sandbox'
export const ISSUER = 'https://acme.example'

export interface KeyPair {
  privateKey: KeyObject
  publicKey: KeyObject
  publicPem: string
  privatePem: string
  jwk: (kid: string) => Jwk
}

/** To make a key of 2048 bits takes longer than most tests. */
const SHIPPED = ['acme', 'globex'].map((name) =>
  createPrivateKey(readFileSync(new URL(`../../fixtures/demo-keys/${name}.pem`, import.meta.url))),
)
let taken = 0

/** A key pair of so many bits; by default one of 2048, another one than the time before. */
export function keyPair(modulusLength?: number): KeyPair {
  const privateKey = modulusLength
    ? generateKeyPairSync('rsa', { modulusLength }).privateKey
    : SHIPPED[taken++ % SHIPPED.length]!
  const publicKey = createPublicKey(privateKey)
  return {
    privateKey,
    publicKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    jwk: (kid) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }) as Jwk,
  }
}

export const seconds = (): number => Math.floor(Date.now() / 1000)

/** A user token as a partner's own code would make it. undefined takes a claim or header member away. */
export function userToken(
  key: KeyPair | KeyObject,
  claims: JWTPayload = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const now = seconds()
  return new SignJWT({ sub: 'alice', iss: ISSUER, aud: AUDIENCE, iat: now, exp: now + 3600, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'acme-1', typ: 'JWT', ...header } as { alg: string })
    .sign('privateKey' in key ? createPrivateKey(key.privatePem) : key)
}

/** An unsigned or falsely signed token. */
export function forge(header: unknown, claims: unknown, signature = ''): string {
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
  return `${encode(header)}.${encode(claims)}.${signature}`
}

export function tenant(user_keys: UserKeySource, changes: Partial<Tenant> = {}): Tenant {
  return {
    tenant_id: '11111111-1111-4111-8111-111111111111',
    slug: 'acme',
    client_id: 'acme-client',
    client_secret: 'acme-secret',
    issuer: ISSUER,
    user_keys,
    access: 'all',
    ...changes,
  }
}

/** Wall-clock time that a test can move and stop. */
export class MovableClock extends SandboxClock {
  ahead = 0
  #stoppedAt: number | undefined

  override wallNow(): number {
    return (this.#stoppedAt ?? super.wallNow()) + this.ahead
  }

  stop(): void {
    this.#stoppedAt = super.wallNow()
  }
}

export interface RecordedLog extends Logger {
  lines: { fields: object; message: string }[]
}

export function recordedLog(): RecordedLog {
  const lines: RecordedLog['lines'] = []
  const write = (fields: object, message: string) => void lines.push({ fields, message })
  return { lines, debug: write, info: write, warn: write, error: write }
}

/** The problem a promise is rejected with. */
export async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof Problem) return outcome
  throw new Error('expected a Problem', { cause: outcome })
}
