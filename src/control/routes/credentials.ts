import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'
import { CredentialsSchema } from '../schemas.ts'

/** Credentials and URLs that a client needs to connect. */
export async function credentialRoutes(app: FastifyInstance): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_credentials',
    summary: 'Addresses, secrets and keys of every tenant',
    response: { 200: CredentialsSchema },
  }
  app.get('/credentials', { schema }, (request) => controlOf(request).credentials())
}
