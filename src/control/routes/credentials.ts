import type { FastifyInstance } from 'fastify'
import type { ControlDeps } from '../control-parts.ts'
import { CredentialsSchema } from '../schemas.ts'

/** Everything a client needs to connect. */
export async function credentialRoutes(app: FastifyInstance, { credentials }: ControlDeps): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_credentials',
    summary: 'Addresses, secrets and keys of every tenant',
    response: { 200: CredentialsSchema },
  }
  app.get('/_sandbox/credentials', { schema }, () => credentials())
}
