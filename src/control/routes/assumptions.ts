import type { FastifyInstance } from 'fastify'
import type { ControlParts } from '../control-parts.ts'

/** What the specification leaves open and what the sandbox does there. */
export async function assumptionRoutes(app: FastifyInstance, { assumptions }: ControlParts): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'list_assumptions',
    summary: 'Open points of the specification, with the active setting',
  }
  app.get('/_sandbox/assumptions', { schema }, () => assumptions())
}
