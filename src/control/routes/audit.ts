import type { FastifyInstance } from 'fastify'
import type { ControlParts } from '../control-parts.ts'

/** Whether the money adds up. 200 also when it does not: the answer is the report. */
export async function auditRoutes(app: FastifyInstance, { audit }: ControlParts): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_audit',
    summary: 'Do API, ledger and chain agree on every portfolio?',
  }
  app.get('/_sandbox/audit', { schema }, () => audit())
}
