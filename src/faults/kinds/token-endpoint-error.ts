import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { Choice, withDefault } from '../parameters.ts'

/** Errors of RFC 6749 §5.2, and the two of §4.1.2.1 that identity providers use here as well, with their usual status. */
const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  server_error: 500,
  temporarily_unavailable: 503,
}

const ERRORS = Object.keys(STATUS) as (keyof typeof STATUS)[]

/** The identity provider refuses a good request for a token. Assumption `idp-errors`. */
export const tokenEndpointError = defineKind({
  kind: 'token_endpoint_error',
  scope: 'exchange',
  group: 'tokens',
  phases: ['on_request'],
  operations: ['token'],
  with: Type.Object(
    {
      error: withDefault('temporarily_unavailable', Choice(ERRORS, { description: 'The error of RFC 6749.' })),
      status: Type.Optional(
        Type.Integer({ minimum: 400, maximum: 599, description: "The status; the error's usual one by default." }),
      ),
    },
    { additionalProperties: false },
  ),
  explain: ({ error, status = STATUS[error] }, when) =>
    `The identity provider issues no token ${when}: ${status} ${error}.`,
  strike({ exchange, with: { error, status = STATUS[error] } }) {
    exchange.tokenWish = { ...exchange.tokenWish, refusal: { error, status } }
  },
})
