import type { FastifyInstance } from 'fastify'
import type { ControlParts } from '../control-parts.ts'

/** How the sandbox stands to the specification: rule by rule, and of that the open points alone. */
export async function fidelityRoutes(app: FastifyInstance, { fidelity, assumptions }: ControlParts): Promise<void> {
  const all = {
    tags: ['Control'],
    operationId: 'list_fidelity',
    summary: 'Every rule and behaviour: exact, assumed or absent',
  }
  const open = {
    tags: ['Control'],
    operationId: 'list_assumptions',
    summary: 'Open points of the specification, with the active setting',
  }
  app.get('/_sandbox/fidelity', { schema: all }, () => fidelity())
  app.get('/_sandbox/assumptions', { schema: open }, () => assumptions())
}
