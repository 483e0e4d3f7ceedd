import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { defineKind } from '../fault-kind.ts'
import { LISTS } from '../parameters.ts'

/** A genuine cursor is refused as too old (spec: Pagination 6). */
export const expiredCursor = defineKind({
  kind: 'expired_cursor',
  scope: 'exchange',
  group: 'lists',
  phases: ['on_request'],
  operations: LISTS,
  with: Type.Object({}, { additionalProperties: false }),
  applies: (exchange) => exchange.has_cursor,
  explain: (_, when) => `The cursor is refused as older than 7 days ${when}: 410 cursor_expired.`,
  strike() {
    throw new Problem('cursor_expired', { detail: 'The cursor is older than 7 days; fetch the first page again.' })
  },
})
