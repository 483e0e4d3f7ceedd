import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { type Issue, type Path, UnreadableTextError } from '../support/issue.ts'
import { parseDuration, parseDurationRange } from '../support/quantities.ts'
import { schemaIssues } from '../support/schema-issues.ts'

/** Keyword of a string schema: the string is a duration, read by one of {@link READERS}. */
const DURATION = 'x-duration'

const READERS = { fixed: parseDuration, range: parseDurationRange }

/** A parameter with a default: optional for the author of a rule, always there for the kind. */
export type Filled<S extends TSchema> = S & { default: Static<S> }

/** Gives a parameter its default. */
export function withDefault<S extends TSchema>(value: Static<S>, schema: S): Filled<S> {
  return { ...schema, default: value }
}

/** Schema of one word out of several. */
export function Choice<const Word extends string>(words: readonly Word[], options: { description: string }) {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    options,
  )
}

/** Schema of a time on the sandbox clock: `2s`. */
export function Duration(options: { description: string }) {
  return Type.String({ [DURATION]: 'fixed', title: 'a duration such as "2s"', ...options })
}

/** Schema of a time on the sandbox clock, fixed or drawn from a range: `2s`, `1s-3s`. */
export function DurationRange(options: { description: string }) {
  return Type.String({ [DURATION]: 'range', title: 'a duration such as "2s" or "1s-3s"', ...options })
}

/** Validates a value. Each issue names the value given, the values allowed, and the nearest of them. */
export function issuesOf(schema: TSchema, value: unknown, at: Path = []): Issue[] {
  const misfits = schemaIssues(schema, value)
  const issues = misfits.length > 0 ? misfits : durationIssues(schema, value)
  return issues.map((issue) => ({ ...issue, path: [...at, ...issue.path] }))
}

function durationIssues(schema: TSchema, value: unknown): Issue[] {
  return Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, property]) => {
    const text: unknown = Object(value)[name]
    const read = READERS[property[DURATION] as keyof typeof READERS]
    if (read === undefined || typeof text !== 'string') return []
    try {
      read(text)
      return []
    } catch (error) {
      if (!(error instanceof UnreadableTextError)) throw error
      return [{ path: [name], message: error.problem, fix: error.fix }]
    }
  })
}

/** Operations that move money. Only they have phases between `on_request` and `during_response`. */
export const TRANSFERS: readonly Operation[] = ['deposit', 'withdraw']

/** Operations whose answer is a page of a list. */
export const LISTS: readonly Operation[] = ['list_pools', 'list_portfolios', 'list_transactions']

/** Operations of the service itself, without the identity provider's. */
export const SERVICE: readonly Operation[] = OPERATIONS.filter((operation) => operation !== 'token')

/** Operations of one end user: they have an external_id in the path, and a user token for it. */
export const OF_END_USER: readonly Operation[] = [
  'create_portfolio',
  'list_portfolios',
  'deposit',
  'withdraw',
  'list_transactions',
]
