import type { Operation } from '../domain/operations.ts'
import { formDecode } from '../support/encodings.ts'
import { jsonExcess, jsonObject } from '../support/json.ts'
import { harmless, SECRET_NAME } from './harmless.ts'
import type { Redactor } from './redact.ts'

/** A member of JSON with a text as its value, also in broken JSON. */
const MEMBER = /"((?:[^"\\]|\\.){1,60})"(\s*:\s*)"((?:[^"\\]|\\.)*)/g
const MEMBER_NAME = /"(?:[^"\\]|\\.)*"\s*:/g

/** Text between the separators of any data format. */
const WORD = /[^\s"'{}[\],:;=&<>()\\]+/g

const PLAIN_WORD = /^(?:true|false|null|client_secret|client_assertion|user_jwt|access_token)$/
const ASSIGNMENT = /^["'\s\\]{0,5}[:=>]["'\s\\]{0,5}$/

/** Limits for what nobody reads: characters of a text without a known form, and members of an object that no operation has. */
const MOST_TEXT = 2048
const MOST_UNKNOWN = 50

/** A request's body with the values of the operation's own fields; all other values are hidden. */
export function redactBody(redactor: Redactor, body: string, operation: Operation | null): string {
  const object = jsonExcess(body) === undefined ? jsonObject(body) : undefined
  if (object) return members(redactor, body, object, operation)
  if (operation === 'token' && !/^\s*[{[]/.test(body)) return form(redactor, body)
  return anything(redactor, body, operation)
}

/** An answer's body, written by the sandbox or a fault. `hidden`: values of the request that an error may repeat. */
export function redactAnswer(redactor: Redactor, body: string, hidden: readonly string[]): string {
  const named = body.replace(MEMBER, (whole, name: string, colon: string, value: string) =>
    SECRET_NAME.test(name) ? `"${name}"${colon}"${redactor.credential(value)}` : whole,
  )
  return redactor.echo(named, hidden)
}

/** Returns the original text if nothing had to be hidden. */
function members(
  redactor: Redactor,
  body: string,
  object: Record<string, unknown>,
  operation: Operation | null,
): string {
  const entries = Object.entries(object)
  const unknown = entries.filter(([name]) => !harmless.field(operation, name))
  if (unknown.length > MOST_UNKNOWN) {
    const known = entries.filter(([name]) => harmless.field(operation, name))
    const rest = redactor.hidden(JSON.stringify(unknown))
    return members(redactor, '', { ...Object.fromEntries(known), others: rest }, operation)
  }
  const shown = entries.map(
    ([name, value]) => [redactor.text(name), fieldOf(redactor, operation, name, value)] as const,
  )
  const same = shown.every(([name, value], at) => name === entries[at]?.[0] && value === entries[at][1])
  const once = (body.match(MEMBER_NAME)?.length ?? 0) === entries.length
  return same && once ? body : JSON.stringify(Object.fromEntries(shown))
}

function fieldOf(redactor: Redactor, operation: Operation | null, name: string, value: unknown): unknown {
  const isText = typeof value === 'string'
  if (value === null || typeof value === 'boolean' || value === '') return value
  if (isText && isCredential(name)) return redactor.credential(value)
  if (!harmless.field(operation, name) || typeof value === 'object') {
    return redactor.unknown(isText ? value : JSON.stringify(value))
  }
  if (!isText) return value
  return isClientId(name) ? redactor.clientId(value) : redactor.text(value)
}

function form(redactor: Redactor, body: string): string {
  const fields = body.split('&').map((field) => {
    const at = field.indexOf('=')
    if (at < 0) return redactor.unknown(field)
    const name = formDecode(field.slice(0, at)) ?? field.slice(0, at)
    const value = formDecode(field.slice(at + 1)) ?? field.slice(at + 1)
    return `${redactor.text(field.slice(0, at))}=${formValue(redactor, name, value, field.slice(at + 1))}`
  })
  return fields.join('&')
}

/** Returns the encoded value if it may be shown. */
function formValue(redactor: Redactor, name: string, value: string, encoded: string): string {
  if (value === '') return encoded
  if (isCredential(name)) return redactor.credential(value)
  if (!harmless.field('token', name)) return redactor.unknown(value)
  const shown = isClientId(name) ? redactor.clientId(value) : redactor.text(value)
  return shown === value ? encoded : shown
}

/** A body that is not in the expected form, or only its beginning: shows the names of fields, and values assigned to them directly. */
function anything(redactor: Redactor, body: string, operation: Operation | null): string {
  const begin = body.slice(0, MOST_TEXT)
  let assignable = -1
  const words = begin.replace(WORD, (word, at: number) => {
    const assigned = assignable >= 0 && ASSIGNMENT.test(begin.slice(assignable, at))
    const isLast = at + word.length === body.length
    const isField = harmless.field(operation, word) || (isLast && harmless.beginningOfField(operation, word))
    assignable = isField && !isClientId(word) ? at + word.length : -1
    if (isField || assigned || PLAIN_WORD.test(word)) return word
    return redactor.unknown(word)
  })
  return redactor.text(words) + (body.length > MOST_TEXT ? redactor.hidden(body.slice(MOST_TEXT)) : '')
}

function isCredential(name: string): boolean {
  return SECRET_NAME.test(name) || /jwt$/i.test(name)
}

function isClientId(name: string): boolean {
  return /^client[-_]?id$/i.test(name)
}
