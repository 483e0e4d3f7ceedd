import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { parseDuration, parseDurationRange } from '../support/duration.ts'
import { type Issue, type Path, UnreadableTextError } from '../support/issue.ts'
import { nearest } from '../support/nearest.ts'
import { shorten } from '../support/shorten.ts'

/** Keyword of a string schema that says how the string is read. */
const DURATION = 'x-duration'

/** Of one value: more help nobody, and each takes time. */
const MAX_ISSUES = 50

type Words = Pick<Issue, 'message' | 'fix'>

const READERS = { fixed: parseDuration, range: parseDurationRange }

/** A parameter that is filled in when a rule leaves it out: not optional to the kind, optional to who writes the rule. */
export type Filled<S extends TSchema> = S & { default: Static<S> }

/** Gives a parameter its default. */
export function withDefault<S extends TSchema>(value: Static<S>, schema: S): Filled<S> {
  return { ...schema, default: value }
}

/** A word out of several. */
export function Choice<const Word extends string>(words: readonly Word[], options: { description: string }) {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    options,
  )
}

/** Time on the sandbox clock: `2s`. */
export function Duration(options: { description: string }) {
  return Type.String({ [DURATION]: 'fixed', ...options })
}

/** Time on the sandbox clock, fixed or drawn from a range: `2s`, `1s-3s`. */
export function DurationRange(options: { description: string }) {
  return Type.String({ [DURATION]: 'range', ...options })
}

/** What is wrong with a value: each names the value given, what is allowed, and the nearest of it. */
export function issuesOf(schema: TSchema, value: unknown, at: Path = []): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of Value.Errors(schema, value)) {
    const path = [...at, ...namesOf(error.path)]
    const key = path.join('.')
    // A parameter that is missing is of the wrong type as well: the first error says it.
    if (!issues.has(key)) issues.set(key, { path, ...explain(error) })
    if (issues.size > MAX_ISSUES) break
  }
  return issues.size > 0 ? [...issues.values()] : durationIssues(schema, value, at)
}

/** Says that a value is none of those allowed, with the nearest. */
export function notOneOf(value: unknown, allowed: readonly string[]): Words {
  const message = `${show(value)} is not known`
  if (allowed.length === 0) return { message, fix: 'there is none to choose from, leave it out' }
  const near = nearest(String(value), allowed)
  const choice = `use one of ${allowed.join(', ')}`
  return { message, fix: near === undefined ? choice : `did you mean "${near}"? Otherwise ${choice}` }
}

function explain({ type, path, value, schema, message }: ValueError): Words {
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return notOneOf(namesOf(path).at(-1), Object.keys(schema.properties))
  }
  const words = literalsOf(schema)
  const wanted = expected(schema, words)
  if (value === undefined && wanted) return { message: 'is missing', fix: `expected ${wanted}` }
  if (words && typeof value === 'string') return notOneOf(value, words)
  return { message: wanted ? `${show(value)} is not ${wanted}` : message }
}

function expected(schema: TSchema, words: string[] | undefined): string {
  if (words) return `one of ${words.join(', ')}`
  if (schema[DURATION]) return `a duration such as "2s"${schema[DURATION] === 'range' ? ' or "1s-3s"' : ''}`
  const bounds = [
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.exclusiveMinimum !== undefined && `above ${schema.exclusiveMinimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
  ].filter(Boolean)
  const kind = { integer: 'a whole number', number: 'a number', object: 'an object', string: 'a string' }[
    String(schema.type)
  ]
  if (kind === undefined) return ''
  const form = schema.pattern === undefined ? '' : ` that looks like ${schema.examples?.[0] ?? schema.pattern}`
  return `${kind}${form}${bounds.length > 0 ? ` of ${bounds.join(' and ')}` : ''}`
}

/** The words, or numbers, a schema lets one choose from, when it is such a schema. */
function literalsOf(schema: TSchema): string[] | undefined {
  const members: TSchema[] = Array.isArray(schema.anyOf) ? schema.anyOf : []
  const words = members.map((member) => (member.const === undefined ? expected(member, undefined) : `${member.const}`))
  return words.length > 0 ? words : undefined
}

/** The names along a JSON pointer. */
function namesOf(pointer: string): string[] {
  const names = pointer.split('/').slice(1)
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function durationIssues(schema: TSchema, value: unknown, at: Path): Issue[] {
  return Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, property]) => {
    const text: unknown = Object(value)[name]
    const read = READERS[property[DURATION] as keyof typeof READERS]
    if (read === undefined || typeof text !== 'string') return []
    try {
      read(text)
      return []
    } catch (error) {
      if (!(error instanceof UnreadableTextError)) throw error
      return [{ path: [...at, name], message: error.problem, fix: error.fix }]
    }
  })
}

/** A value as it was given, shortened. */
function show(value: unknown): string {
  return shorten(JSON.stringify(value) ?? 'nothing')
}
