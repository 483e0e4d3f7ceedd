import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { defineKind } from '../fault-kind.ts'
import { LISTS } from '../parameters.ts'

/** A genuine cursor is refused as tampered with (spec: Pagination 5). */
export const invalidCursor = defineKind({
  kind: 'invalid_cursor',
  scope: 'exchange',
  group: 'lists',
  phases: ['on_request'],
  operations: LISTS,
  with: Type.Object({}, { additionalProperties: false }),
  applies: (exchange) => exchange.has_cursor,
  explain: (_, when) => `The cursor is refused as tampered with ${when}: 400 cursor_invalid.`,
  strike() {
    throw new Problem('cursor_invalid', { detail: 'The cursor is not one of this list; fetch the first page again.' })
  },
})
