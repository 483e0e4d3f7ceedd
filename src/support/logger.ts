/** Structured log, pino's signature. Never pass secrets (tokens, client secrets, private keys). */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A logger that adds these fields to every line. */
export function loggerWith(log: Logger, fields: object): Logger {
  return {
    debug: (own, message) => log.debug({ ...fields, ...own }, message),
    info: (own, message) => log.info({ ...fields, ...own }, message),
    warn: (own, message) => log.warn({ ...fields, ...own }, message),
    error: (own, message) => log.error({ ...fields, ...own }, message),
  }
}
