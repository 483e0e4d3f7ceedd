import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { defineKind } from '../fault-kind.ts'
import { SERVICE } from '../parameters.ts'

/** The tenant is treated as having no access to the endpoint (spec: Identity-provider token 7). */
export const insufficientRole = defineKind({
  kind: 'insufficient_role',
  scope: 'exchange',
  group: 'tokens',
  phases: ['on_request'],
  operations: SERVICE,
  with: Type.Object({}, { additionalProperties: false }),
  explain: (_, when) => `The tenant is refused access ${when}: 403 insufficient_role.`,
  strike({ exchange }) {
    throw new Problem('insufficient_role', { detail: `The tenant has no access to ${exchange.operation}.` })
  },
})
