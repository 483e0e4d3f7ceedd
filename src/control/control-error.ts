import type { ParameterFault } from '../domain/errors.ts'

/** Details of an error at the control interface, beside the message. */
export interface ControlErrorDetails extends ErrorOptions {
  code: string
  status?: number | undefined
  errors?: readonly ParameterFault[] | undefined
}

/** The sandbox could not be reached, or refused; the message says which, and gives the fix. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError'
  /** `sandbox_unreachable`, `unexpected_answer`, `sandbox_starting`, or another code of the sandbox's own errors. */
  readonly code: string
  /** Status of the sandbox's answer; undefined if there was none. */
  readonly status: number | undefined
  /** All parameters at fault, if the sandbox named any. */
  readonly errors: readonly ParameterFault[]

  constructor(message: string, { code, status, errors = [], ...options }: ControlErrorDetails) {
    super(message, options)
    this.code = code
    this.status = status
    this.errors = errors
  }
}

/** The sandbox refused the request as wrong; the message is the sandbox's, with a line for each fault. */
export class RefusedError extends ControlError {
  override readonly name = 'RefusedError'
}

/** The code of an error; `fetch` hides it in the cause. */
export function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return typeof code === 'string' ? code : cause instanceof Error ? codeOf(cause) : ''
}

/** Explains why there is no answer from a URL, and the fix. */
export function whyUnreachable(url: string, code: string): string {
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    const fix = 'name the file of its CA with --ca (or NODE_EXTRA_CA_CERTS); a self-signed sandbox prints it at start'
    return `the certificate at ${url} is not trusted (${code}); ${fix}`
  }
  if (/SSL|EPROTO/.test(code)) return `${url} does not speak https (${code}); give --url with http://`
  // The error when a server that speaks TLS gets a request in plain text.
  if (/ECONNRESET|UND_ERR_SOCKET|HPE_/.test(code)) {
    return `what is at ${url} closed the connection (${code}); if the sandbox serves https, give --url with https://`
  }
  return `no sandbox answers at ${url}; start one, or name another with --url`
}

/** Reads a problem body; the message has a line for each fault. */
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
