import { Type } from '@sinclair/typebox'
import { OPERATIONS } from '../../domain/operations.ts'
import { isObject, parseBody, withCode } from '../answer-body.ts'
import { defineKind } from '../fault-kind.ts'

/** Fields that no version has, one of every JSON type. */
const ADDED = {
  added_text: 'a field of a later version',
  added_number: 1.5,
  added_flag: true,
  added_nothing: null,
  added_list: ['of', 'a', 'later', 'version'],
  added_object: { added_text: 'of a later version' },
}

/** The answer is as of a later minor version: new fields, new error codes (spec: Versioning 3 and 7). */
export const unknownFields = defineKind({
  kind: 'unknown_fields',
  scope: 'exchange',
  group: 'answer',
  phases: ['during_response'],
  operations: OPERATIONS,
  with: Type.Object(
    {
      error_code: Type.Optional(
        Type.String({
          pattern: '^[a-z][a-z0-9_]{0,63}$',
          examples: ['"account_frozen"'],
          description: "Replaces an error answer's code; its status stays. Left out, the code stays as well.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  explain: ({ error_code }, when) =>
    `Every object of the answer gets new fields ${when}.${error_code === undefined ? '' : ` An error's code is ${error_code}.`}`,
  strike({ exchange: { answer }, with: { error_code } }) {
    const body = parseBody(answer?.body)
    if (!answer || body === undefined) return
    const grown = grow(body)
    answer.body = JSON.stringify(error_code !== undefined && isObject(grown) ? withCode(grown, error_code) : grown)
  },
})

/** Returns a copy with the new fields in every object. */
function grow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grow)
  if (!isObject(value)) return value
  return { ...Object.fromEntries(Object.entries(value).map(([name, member]) => [name, grow(member)])), ...ADDED }
}
