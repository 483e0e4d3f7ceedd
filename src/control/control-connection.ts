import { ControlError, codeOf, problemIn, RefusedError, whyUnreachable } from './control-error.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Statuses that mean a wrong request, or one for something that does not exist. */
const REFUSALS = new Set([400, 404, 410, 422])

/** Connection to a sandbox's control interface: sends the client's requests and reads the answers. */
export class ControlConnection {
  /** `url` is the origin of the sandbox. */
  constructor(
    readonly url: string,
    readonly token: string | undefined,
    readonly fetch: typeof globalThis.fetch,
  ) {}

  /** The answer's JSON, null when it has no body. Throws ControlError. */
  async call<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.send(method, path, body)
    if (status >= 400) throw this.failure(path, status, text)
    return JSON.parse(text || 'null')
  }

  /** Returns any answer. Throws ControlError if there is none. */
  async send(method: Method, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    try {
      const response = await this.fetch.call(undefined, `${this.url}${path}`, init)
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new ControlError(whyUnreachable(this.url, codeOf(cause)), { code: 'sandbox_unreachable', cause })
    }
  }

  /** The error for an unexpected answer. */
  failure(path: string, status: number, text: string): ControlError {
    const problem = problemIn(text)
    const details = { code: problem?.code ?? 'unexpected_answer', status, errors: problem?.errors }
    if (problem && REFUSALS.has(status)) return new RefusedError(problem.message, details)
    return new ControlError(`${this.url}${path} answered ${status}: ${problem?.message ?? text.slice(0, 500)}`, details)
  }
}
