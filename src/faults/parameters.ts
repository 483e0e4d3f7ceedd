import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import type { ParameterFault } from '../domain/errors.ts'
import { parseDuration, parseDurationRange } from '../support/duration.ts'
import { nearest } from '../support/nearest.ts'
import { shorten } from '../support/shorten.ts'

/** Keyword of a string schema that says how the string is read. */
const DURATION = 'x-duration'

/** Of one value: more help nobody, and each takes time. */
const MAX_FAULTS = 50

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

/** What is wrong with a value, by parameter: each names the value given, what is allowed, and the nearest of it. */
export function faultsOf(schema: TSchema, value: unknown, parameter = ''): ParameterFault[] {
  const faults = new Map<string, string>()
  for (const error of Value.Errors(schema, value)) {
    const param = [parameter, ...namesOf(error.path)].filter((name) => name !== '').join('.')
    // A parameter that is missing is of the wrong type as well: the first error says it.
    if (!faults.has(param)) faults.set(param, explain(error))
    if (faults.size > MAX_FAULTS) break
  }
  if (faults.size === 0) durationFaults(schema, value, parameter, faults)
  return [...faults].map(([param, detail]) => ({ param: param || 'body', detail }))
}

/** Says that a value is none of those allowed, with the nearest. */
export function notOneOf(value: unknown, allowed: readonly string[]): string {
  if (allowed.length === 0) return `${show(value)} is not known; there is none to choose from, leave it out`
  const near = nearest(String(value), allowed)
  const choice = `use one of ${allowed.join(', ')}`
  return `${show(value)} is not known; ${near === undefined ? choice : `did you mean "${near}"? Otherwise ${choice}`}`
}

function explain({ type, path, value, schema, message }: ValueError): string {
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return notOneOf(namesOf(path).at(-1), Object.keys(schema.properties))
  }
  const words = literalsOf(schema)
  const wanted = expected(schema, words)
  if (value === undefined && wanted) return `is missing; expected ${wanted}`
  if (words && typeof value === 'string') return notOneOf(value, words)
  return wanted ? `${show(value)} is not ${wanted}` : message
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

function durationFaults(schema: TSchema, value: unknown, parameter: string, faults: Map<string, string>): void {
  for (const [name, property] of Object.entries<TSchema>(schema.properties ?? {})) {
    const text: unknown = Object(value)[name]
    const read = READERS[property[DURATION] as keyof typeof READERS]
    if (read === undefined || typeof text !== 'string') continue
    try {
      read(text)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      faults.set([parameter, name].filter(Boolean).join('.'), error.message)
    }
  }
}

/** A value as it was given, shortened. */
function show(value: unknown): string {
  return shorten(JSON.stringify(value) ?? 'nothing')
}
