import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'
import { oneOf } from '../schema-parts.ts'
import { CredentialsSchema } from '../schemas.ts'

const Query = Type.Object(
  { first_request: Type.Optional(oneOf(['1', '0'], '1: with a first deposit of each tenant, to be pasted as it is.')) },
  { additionalProperties: false },
)

/** Credentials and URLs that a client needs to connect. */
export async function credentialRoutes(app: FastifyInstance): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_credentials',
    summary: 'Addresses, secrets and keys of every tenant',
    querystring: Query,
    response: { 200: CredentialsSchema },
  }
  app.get<{ Querystring: Static<typeof Query> }>('/credentials', { schema }, (request) =>
    controlOf(request).credentials({ firstRequests: request.query.first_request === '1' }),
  )
}
