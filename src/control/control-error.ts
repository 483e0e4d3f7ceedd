import type { ParameterFault } from '../domain/errors.ts'

/** What went wrong at the control interface, beside the message. */
export interface ControlErrorDetails extends ErrorOptions {
  code: string
  status?: number | undefined
  errors?: readonly ParameterFault[] | undefined
}

/** A sandbox that could not be reached or refused; the message says which and what to do. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError'
  /** `sandbox_unreachable`, `unexpected_answer`, `sandbox_starting`, or another code of the sandbox's own errors. */
  readonly code: string
  /** Status of the sandbox's answer; undefined when there was none. */
  readonly status: number | undefined
  /** Every parameter at fault, when the sandbox named some. */
  readonly errors: readonly ParameterFault[]

  constructor(message: string, { code, status, errors = [], ...options }: ControlErrorDetails) {
    super(message, options)
    this.code = code
    this.status = status
    this.errors = errors
  }
}

/** A sandbox that found something wrong with what was asked for; the message is its own, a line for each fault. */
export class RefusedError extends ControlError {
  override readonly name = 'RefusedError'
}

/** The code of what went wrong; `fetch` hides it in the cause. */
export function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return typeof code === 'string' ? code : cause instanceof Error ? codeOf(cause) : ''
}

/** Why nothing came from the sandbox at a URL, and what to do. */
export function whyUnreachable(url: string, code: string): string {
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    const fix = 'name the file of its CA with --ca (or NODE_EXTRA_CA_CERTS); a self-signed sandbox prints it at start'
    return `the certificate at ${url} is not trusted (${code}); ${fix}`
  }
  if (/SSL|EPROTO/.test(code)) return `${url} does not speak https (${code}); give --url with http://`
  // What a server that speaks TLS does with a request in plain text.
  if (/ECONNRESET|UND_ERR_SOCKET|HPE_/.test(code)) {
    return `what is at ${url} closed the connection (${code}); if the sandbox serves https, give --url with https://`
  }
  return `no sandbox answers at ${url}; start one, or name another with --url`
}

/** What a problem body says; the message has a line for each fault. */
export function problemIn(text: string): { code: string; message: string; errors: ParameterFault[] } | undefined {
  try {
    const { code, detail, param, errors } = JSON.parse(text)
    if (typeof code !== 'string' || typeof detail !== 'string') return undefined
    if (!Array.isArray(errors)) return { code, message: detail, errors: param ? [{ param, detail }] : [] }
    return { code, message: errors.map((one) => `${one.param}: ${one.detail}`).join('\n'), errors }
  } catch {
    return undefined
  }
}
