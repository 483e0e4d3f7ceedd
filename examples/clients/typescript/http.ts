import { ApiError, NoAnswer } from './errors.ts'
import { withRetries } from './retry.ts'
import { type IdpSettings, IdpTokens, type UserTokenSettings, UserTokens } from './tokens.ts'

export interface HttpSettings extends IdpSettings, UserTokenSettings {
  baseUrl: string
  /** Milliseconds to wait for an answer; a transfer may take a minute. Default: 90,000. */
  timeout?: number
  /** How often a request is sent that gets no final answer. Default: 12, which is about 35 s of pauses. */
  attempts?: number
  /** Told when the service announces the end of this version (RFC 8594). */
  onNotice?: (notice: string) => void
}

export interface Request {
  method: 'GET' | 'POST'
  /** Below /v1/partner. */
  path: string
  query?: Record<string, string>
  body?: object
  /** Whose user token it takes; pools and the creation of end users take none. */
  user?: string
  /** Idempotency-Key: one per operation, the same for all of its retries. */
  key?: string
}

/** Sends requests with both tokens, and again when that may help. Node's fetch keeps connections open by itself. */
export class Http {
  readonly #settings: HttpSettings
  readonly #attempts: number
  readonly #idpTokens: IdpTokens
  readonly #userTokens: UserTokens

  constructor(settings: HttpSettings) {
    this.#settings = settings
    this.#attempts = settings.attempts ?? 12
    this.#idpTokens = new IdpTokens(settings, this.#attempts)
    this.#userTokens = new UserTokens(settings)
  }

  /** Throws ApiError or OutcomeUnknown for a final answer that is an error, the last failure when the attempts are used up. */
  send<T>(request: Request): Promise<T> {
    return withRetries(this.#attempts, () => this.#withTokens<T>(request), request.key)
  }

  /** A token that is refused is renewed once, and the request repeated as it was. */
  async #withTokens<T>(request: Request): Promise<T> {
    const { user } = request
    const idpToken = await this.#idpTokens.get()
    const userToken = user === undefined ? undefined : this.#userTokens.get(user)
    try {
      return await this.#exchange<T>(request, idpToken, userToken)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'invalid_idp_token') {
        return this.#exchange<T>(request, await this.#idpTokens.renew(idpToken), userToken)
      }
      if (error.code === 'invalid_user_token' && user !== undefined) {
        return this.#exchange<T>(request, idpToken, this.#userTokens.renew(user))
      }
      throw error
    }
  }

  async #exchange<T>({ method, path, query, body, key }: Request, idpToken: string, userToken?: string): Promise<T> {
    const url = new URL(`${this.#settings.baseUrl}/v1/partner/${path}`)
    url.search = new URLSearchParams(query).toString()
    const headers = new Headers({ authorization: `Bearer ${idpToken}` })
    if (userToken !== undefined) headers.set('x-user-token', userToken)
    if (key !== undefined) headers.set('idempotency-key', key)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const signal = AbortSignal.timeout(this.#settings.timeout ?? 90_000)
    let response: Response
    let text: string
    try {
      response = await fetch(url, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) })
      text = await response.text()
    } catch (error) {
      throw new NoAnswer(`no answer to ${method} ${path}`, { cause: error })
    }
    this.#notice(response)
    const answer = parsed(text)
    if (!response.ok) throw new ApiError(response, String(answer?.code), String(answer?.detail ?? method + path))
    if (answer === undefined) throw new NoAnswer(`an answer to ${method} ${path} that cannot be read`)
    return answer as T
  }

  #notice({ headers }: Response): void {
    const [deprecation, sunset] = [headers.get('deprecation'), headers.get('sunset')]
    if (deprecation ?? sunset) this.#settings.onNotice?.(`deprecated ${deprecation}, gone at ${sunset}`)
  }
}

/** Undefined when it is no JSON object: a proxy's page, half of a body. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
