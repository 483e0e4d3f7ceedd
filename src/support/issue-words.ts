import type { TSchema } from '@sinclair/typebox'
import type { IssueWords } from './issue.ts'
import { nearest, suggest } from './nearest.ts'

/*
 * Words for values that do not fit a schema, whichever validator found them. A schema's `title` completes the sentence "must
 * be …" and the first of its `examples` is proposed; without a title, the sentence names the type, form and bounds.
 */

/** Facts about a value that the value itself does not hold. */
export interface ValueContext {
  /** The scalar as the file has it. */
  written?: string | undefined
  /** True if no message may repeat the value. */
  secret?: boolean
  /** The page that explains the fields. */
  docs?: string | undefined
}

/** A required field that was not given. */
export function missing(field: string, schema: TSchema, docs?: string): IssueWords {
  const example = schema.examples?.[0]
  const came = 'nothing'
  if (example !== undefined) return { message: 'is missing', came, fix: `add it, such as ${field}: ${inline(example)}` }
  return { message: 'is missing', came, fix: docs === undefined ? `add ${demandOf(schema)}` : `add it; see ${docs}` }
}

/** A field that the mapping does not have. A record describes its keys in `propertyNames`. */
export function unknownField(field: string, mapping: TSchema): IssueWords {
  const { properties, propertyNames: { title = 'known key', examples } = {} as TSchema } = mapping
  return properties
    ? { message: 'is not a known field', fix: suggest(field, Object.keys(properties)), anchor: 'key' }
    : { message: `is no ${title}`, fix: `use a ${title} such as ${examples?.[0]}`, anchor: 'key' }
}

/** A word that is not among those allowed. */
export function unknownWord(word: string, allowed: readonly string[]): IssueWords {
  const came = show(word)
  return { message: `${came} is not known`, fix: suggest(word, allowed), expected: allowed.join(' or '), came }
}

/** A value that does not fit the schema. */
export function mismatch(schema: TSchema, value: unknown, { written, secret, docs }: ValueContext = {}): IssueWords {
  const words = constantsOf(schema)?.filter((constant) => typeof constant === 'string')
  if (words?.length && typeof value === 'string' && !secret) return unknownWord(value, words)
  const got = secret ? kindOf(value) : show(value, written)
  return {
    message: `must be ${demandOf(schema)}; got ${got}`,
    expected: demandOf(schema),
    came: got,
    fix: fixFor(schema, value, written, secret) ?? (docs && `see ${docs}`),
  }
}

/** Says how to correct the value. */
function fixFor(schema: TSchema, value: unknown, written?: string, secret = false): string | undefined {
  const alternatives = alternativesOf(schema)
  if (typeof value === 'number' || typeof value === 'boolean') {
    const text = written ?? String(value)
    const fits = ({ type, pattern }: TSchema) => type === 'string' && pattern && matches(pattern, text)
    if (alternatives.some(fits)) return secret ? 'put it in quotes' : `put it in quotes: "${text}"`
  }
  if (typeof value === 'string' && !secret) {
    const constants: unknown[] = alternatives.map((alternative) => alternative.const)
    const isNumber = schema.type === 'integer' ? /^\d{1,15}$/.test(value) : constants.includes(Number(value))
    if (isNumber) return `remove the quotes: ${value}`
    const words = constants.filter((constant) => typeof constant === 'string')
    const near = nearest(value, words)
    if (near !== undefined) return `did you mean "${near}"?`
  }
  const example = schema.examples?.[0]
  return example === undefined ? undefined : `write it like ${inline(example)}`
}

function matches(pattern: string, text: string): boolean {
  // A pattern of one dot leaves the check to code.
  return pattern !== '.' && new RegExp(pattern).test(text)
}

function alternativesOf(schema: TSchema): TSchema[] {
  return schema.anyOf ?? [schema]
}

/** The words, or numbers, a schema lets one choose from, when it is such a schema. */
export function constantsOf(schema: TSchema): unknown[] | undefined {
  const constants: unknown[] = schema.enum ?? alternativesOf(schema).map((alternative) => alternative.const)
  return constants.includes(undefined) ? undefined : constants
}

/** The demand of a schema, worded to follow "must be". */
function demandOf(schema: TSchema): string {
  if (schema.title !== undefined) return schema.title
  const choice = constantsOf(schema)
  if (choice) return choice.length > 1 ? `one of ${choice.join(', ')}` : inline(choice[0])
  if (schema.anyOf) return alternativesOf(schema).map(demandOf).join(' or ')
  const kind = KINDS[schema.type] ?? 'something else'
  const form = schema.pattern === undefined ? '' : ` that looks like ${schema.examples?.[0] ?? schema.pattern}`
  return `${kind}${form}${boundsOf(schema)}`
}

const KINDS: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
  null: 'null',
}

function boundsOf({ type, minimum, maximum, minLength, maxLength, minProperties }: TSchema): string {
  if (minProperties !== undefined) return ` of at least ${minProperties} field`
  const [least, most] = type === 'string' ? [minLength, maxLength] : [minimum, maximum]
  if (least === undefined && most === undefined) return ''
  const within = least !== undefined && most !== undefined
  const range = within ? `${least} to ${most}` : least === undefined ? `at most ${most}` : `at least ${least}`
  return type === 'string' ? ` of ${range} characters` : `${within ? ' from' : ' of'} ${range}`
}

/** A value in a few words: texts quoted and shortened, lists and mappings by their kind. */
function show(value: unknown, written?: string): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 59)}…` : value)
  if (Array.isArray(value) && value.length < 4 && value.every(isPlain)) return inline(value)
  return typeof value === 'number' ? `the number ${(written ?? String(value)).slice(0, 60)}` : kindOf(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  if (value === '') return 'an empty text'
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return Object.keys(value).length > 0 ? 'a mapping' : 'an empty mapping'
  return typeof value === 'number' ? 'a number' : 'another text'
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z][\w.-]{0,19}$/.test(value)
}

/** A schema's example on one line of YAML. */
function inline(example: unknown): string {
  if (Array.isArray(example)) return `[${example.map(plain).join(', ')}]`
  if (typeof example !== 'object' || example === null) return JSON.stringify(example)
  return `{${Object.entries(example)
    .map(([key, value]) => `${key}: ${plain(value)}`)
    .join(', ')}}`
}

function plain(value: unknown): string {
  return isPlain(value) || /^[a-z][\w./-]*$/.test(String(value)) ? String(value) : inline(value)
}
