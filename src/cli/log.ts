import { type Logger, pino } from 'pino'

/** Levels `--log-level` takes. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Members that hold secrets, wherever a log line might carry them. */
const SECRETS = ['authorization', 'x-user-token', 'client_secret', 'private_key_pem', 'token', 'access_token']

/** The log on stderr: one readable line on a terminal, JSON lines elsewhere. */
export function createLog(level: string, terminal = process.stderr.isTTY): Logger {
  const paths = SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])
  const options = { level, base: null, redact: { paths, censor: '[redacted]' } }
  return pino(options, { write: (line) => process.stderr.write(terminal ? pretty(line) : line) })
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
