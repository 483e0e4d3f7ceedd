import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { ApiError, NoAnswer } from './errors.ts'
import { withRetries } from './retry.ts'

/** How a partner application gets its access token. */
export interface IdpSettings {
  authUrl: string
  clientId: string
  clientSecret: string
  scope: string
}

/** Caches the access token of the identity provider until 60 seconds before it expires. */
export class IdpTokens {
  readonly #settings: IdpSettings
  readonly #attempts: number
  #token: Promise<string> | undefined
  /** The one that came last. */
  #value: string | undefined
  #staleAt = 0

  constructor(settings: IdpSettings, attempts: number) {
    this.#settings = settings
    this.#attempts = attempts
  }

  /** The cached token, or a new one; callers at the same time share one request. */
  get(): Promise<string> {
    if (this.#token === undefined || Date.now() >= this.#staleAt) {
      this.#staleAt = Number.POSITIVE_INFINITY
      this.#token = withRetries(this.#attempts, () => this.#fetch())
      this.#token.catch(() => this.#forget())
    }
    return this.#token
  }

  /** A token other than the refused one; another caller may have obtained it meanwhile. */
  renew(refused: string): Promise<string> {
    if (this.#value === refused) this.#forget()
    return this.get()
  }

  #forget(): void {
    this.#token = undefined
    this.#value = undefined
  }

  async #fetch(): Promise<string> {
    const { authUrl, clientId, clientSecret, scope } = this.#settings
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope }
    const asked = Date.now()
    const response = await fetch(authUrl, {
      method: 'POST',
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(30_000),
    }).catch((error: unknown) => Promise.reject(new NoAnswer('no answer to a token request', { cause: error })))
    const body = (await response.json().catch(() => undefined)) as TokenAnswer | undefined
    if (!response.ok) throw new ApiError(response, String(body?.error), String(body?.error_description))
    if (typeof body?.access_token !== 'string') throw new NoAnswer('a token answer that cannot be read')
    this.#staleAt = asked + (Number(body.expires_in) - 60) * 1000
    this.#value = body.access_token
    return body.access_token
  }
}

interface TokenAnswer {
  access_token?: unknown
  expires_in?: unknown
  error?: unknown
  error_description?: unknown
}

/** How a partner signs the tokens of its end users. */
export interface UserTokenSettings {
  issuer: string
  audience: string
  keyId: string
  privateKeyPem: string
}

const LIFETIME_S = 3600

/** Mints a token per end user (RS256), and keeps it until five minutes before it expires. */
export class UserTokens {
  readonly #settings: UserTokenSettings
  readonly #key: KeyObject
  readonly #tokens = new Map<string, { token: string; exp: number }>()

  constructor(settings: UserTokenSettings) {
    this.#settings = settings
    this.#key = createPrivateKey(settings.privateKeyPem)
  }

  get(externalId: string): string {
    const now = Math.floor(Date.now() / 1000)
    const kept = this.#tokens.get(externalId)
    if (kept && kept.exp - 300 > now) return kept.token
    const exp = now + LIFETIME_S
    const token = this.#mint({ sub: externalId, iat: now, exp })
    this.#tokens.set(externalId, { token, exp })
    return token
  }

  /** Forgets the refused one and mints another. */
  renew(externalId: string): string {
    this.#tokens.delete(externalId)
    return this.get(externalId)
  }

  #mint(claims: { sub: string; iat: number; exp: number }): string {
    const { issuer: iss, audience: aud, keyId: kid } = this.#settings
    const header = { alg: 'RS256', kid, typ: 'JWT' }
    const signed = [header, { iss, aud, ...claims, jti: randomUUID() }].map(encoded).join('.')
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), this.#key).toString('base64url')}`
  }
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
