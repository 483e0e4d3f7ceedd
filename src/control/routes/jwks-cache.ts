import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'

/** Forgets the keys fetched from the tenants' `jwks_uri`, so that a rotation of keys can be rehearsed at once. */
export async function jwksCacheRoutes(app: FastifyInstance): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'clear_jwks_cache',
    summary: 'Forget the keys fetched from every jwks_uri, and the tokens verified with them',
    response: { 204: { type: 'null', description: 'They are fetched again when the next user token comes.' } },
  }
  app.delete('/jwks_cache', { schema }, async (request, reply) => {
    controlOf(request).forgetUserKeys()
    return reply.code(204).send()
  })
}
