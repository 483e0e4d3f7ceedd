/** Structured log, pino's signature. Secrets (tokens, client secrets, private keys) never go in. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
