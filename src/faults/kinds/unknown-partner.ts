import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { defineKind } from '../fault-kind.ts'
import { SERVICE } from '../parameters.ts'

/** The partner application is treated as not registered (spec: Identity-provider token 4). */
export const unknownPartner = defineKind({
  kind: 'unknown_partner',
  scope: 'exchange',
  group: 'tokens',
  phases: ['on_request'],
  operations: SERVICE,
  with: Type.Object({}, { additionalProperties: false }),
  explain: (_, when) => `The partner application counts as not registered ${when}: 401 unknown_partner.`,
  strike() {
    throw new Problem('unknown_partner', {
      detail: 'The appid claim matches no registered tenant.',
      param: 'Authorization',
    })
  },
})
