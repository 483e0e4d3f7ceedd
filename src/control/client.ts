import type { Credentials, MintedToken, TenantCredentials } from './contract.ts'

/** A sandbox that could not be reached or refused; the message says which and what to do. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
}

/** Typed client of the control interface. Every method throws ControlError. */
export class ControlClient {
  readonly #url: string
  readonly #token: string | undefined

  constructor(url: string, controlToken?: string) {
    this.#url = url.replace(/\/+$/, '')
    this.#token = controlToken
  }

  /** Everything a client needs to connect. */
  credentials(): Promise<Credentials> {
    return this.#call<Credentials>('GET', '/_sandbox/credentials')
  }

  /** A user token of the tenant, the first one if none is named. */
  async userToken(external_id: string, slug?: string): Promise<string> {
    const tenant = await this.#tenant(slug)
    const path = `/_sandbox/tenants/${encodeURIComponent(tenant.slug)}/user_tokens`
    return (await this.#call<MintedToken>('POST', path, { external_id })).token
  }

  /** An identity-provider token of the tenant, the first one if none is named. */
  async idpToken(slug?: string): Promise<string> {
    const tenant = await this.#tenant(slug)
    const path = `/_sandbox/tenants/${encodeURIComponent(tenant.slug)}/idp_tokens`
    return (await this.#call<MintedToken>('POST', path, {})).token
  }

  async #tenant(slug: string | undefined): Promise<TenantCredentials> {
    const { tenants } = await this.credentials()
    const tenant = slug === undefined ? tenants[0] : tenants.find((candidate) => candidate.slug === slug)
    if (tenant) return tenant
    throw new ControlError(`there is no tenant "${slug ?? ''}"; there are ${tenants.map((one) => one.slug).join(', ')}`)
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new ControlError(`no sandbox answers at ${this.#url}; start one, or name another with --url`, { cause })
    })
    const text = await response.text()
    if (!response.ok) throw new ControlError(`${this.#url}${path} answered ${response.status}: ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }
}
