/** Structured log, pino's signature. Never pass secrets (tokens, client secrets, private keys). */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
