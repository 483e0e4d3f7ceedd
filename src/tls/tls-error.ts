/** A certificate or key that cannot be used, or a place where none can be written; the message says which and what to do. */
export class TlsError extends Error {
  override readonly name = 'TlsError'
  readonly code = 'invalid_tls'

  constructor(path: string, problem: string, fix: string, cause?: unknown) {
    super(`${path}: ${problem}. Fix: ${fix}.`, { cause })
  }
}
