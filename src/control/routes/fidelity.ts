import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'
import { AssumptionsSchema, FidelitySchema } from '../schemas.ts'

/** The sandbox's fidelity to the specification: rule by rule, or the open points only. */
export async function fidelityRoutes(app: FastifyInstance): Promise<void> {
  const all = {
    tags: ['Control'],
    operationId: 'list_fidelity',
    summary: 'Every rule and behaviour: exact, assumed or absent',
    response: { 200: FidelitySchema },
  }
  const open = {
    tags: ['Control'],
    operationId: 'list_assumptions',
    summary: 'Open points of the specification, with the active setting',
    response: { 200: AssumptionsSchema },
  }
  app.get('/fidelity', { schema: all }, (request) => controlOf(request).fidelity())
  app.get('/assumptions', { schema: open }, (request) => controlOf(request).assumptions())
}
