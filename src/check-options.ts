import { Type } from '@sinclair/typebox'
import { OptionError, refuseUnknownNames } from './option-error.ts'
import { SANDBOX_OPTIONS, type SandboxLogger, type SandboxOptions, type StartOption } from './options.ts'
import { type Issue, UnreadableTextError, wordsOf } from './support/issue.ts'
import { schemaIssues } from './support/schema-issues.ts'

/** Refuses names and values that no sandbox takes. Throws OptionError with a line for each. */
export function checkOptions(given: SandboxOptions): void {
  refuseUnknownNames(given, SANDBOX_OPTIONS, 'a sandbox')
  const lines = objectionsTo(given).map(({ path: [name], ...words }) => `${name} ${wordsOf(words)}`)
  if (lines.length > 0) throw new OptionError(lines.join('\n'))
  if (given.logger !== undefined) refuseIncomplete(given.logger)
}

/** Returns the issues of the options' values, by name. */
export function objectionsTo(given: object): Issue[] {
  const unreadable = Object.entries(given).flatMap(([name, value]) => objectionToText([name], value))
  return [...schemaIssues(VALUES, given, { secrets: SECRETS }), ...unreadable]
}

const ENTRIES: [string, StartOption][] = Object.entries(SANDBOX_OPTIONS)
const VALUES = Type.Object(Object.fromEntries(ENTRIES.map(([name, { schema }]) => [name, Type.Optional(schema)])))
const SECRETS = ENTRIES.flatMap(([name, { secret }]) => (secret ? [name] : []))
const PARSERS = new Map(ENTRIES.map(([name, { parse }]) => [name, parse]))

function objectionToText(path: [string], value: unknown): Issue[] {
  try {
    if (typeof value === 'string') PARSERS.get(path[0])?.(value)
    return []
  } catch (error) {
    if (error instanceof UnreadableTextError) return [{ path, message: error.problem, fix: error.fix }]
    throw error
  }
}

function refuseIncomplete(logger: SandboxLogger): void {
  const methods = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
  const own: unknown = logger
  if (typeof own !== 'object' || own === null) {
    throw new OptionError(`logger must be of pino's shape; got ${own}. Leave it out for none`)
  }
  const missing = methods.filter((name) => typeof logger[name] !== 'function')
  if (missing.length > 0) throw new OptionError(`logger must be of pino's shape; it lacks ${missing.join(', ')}`)
}
