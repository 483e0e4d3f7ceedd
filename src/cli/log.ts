import { type Logger, pino } from 'pino'
import { visibleText } from '../support/foreign-text.ts'

/** Members that hold secrets, in any log line. */
const SECRETS = new Set(['authorization', 'x-user-token', 'client_secret', 'private_key_pem', 'token', 'access_token'])

/** Depth to which a line is searched for them. */
const DEPTH = 3

/** The log on stderr: one readable line per entry on a terminal, JSON lines elsewhere. */
export function createLog(level: string, terminal = process.stderr.isTTY): Logger {
  const options = {
    level,
    base: null,
    formatters: { log: (fields: Record<string, unknown>) => censored(fields, DEPTH) },
    serializers: { err: (error: Error) => censored(pino.stdSerializers.err(error), DEPTH - 1) },
  }
  return pino(options, { write: (line) => process.stderr.write(visibleText(terminal ? pretty(line) : line)) })
}

/** Censors as pino's `redact` does with wildcards, in a tenth of its time, which was a fifth of a logged request's. */
function censored<Fields extends object>(fields: Fields, depth: number): Fields {
  let copy = fields
  for (const [name, value] of Object.entries(fields)) {
    const nested = typeof value === 'object' && value !== null && !(value instanceof Error) && depth > 1
    const shown = SECRETS.has(name) ? '[redacted]' : nested ? censored(value, depth - 1) : value
    if (shown === value) continue
    if (copy === fields) copy = Array.isArray(fields) ? Object.assign([], fields) : { ...fields }
    Object.assign(copy, { [name]: shown })
  }
  return copy
}

function pretty(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line)
  const label = (pino.levels.labels[level] ?? '').padEnd(5)
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const cause = err ? `\n${err.stack ?? err.message}` : ''
  return `${new Date(time).toISOString().slice(11, 23)} ${label} ${msg} ${rest.join(' ')}${cause}\n`
}
