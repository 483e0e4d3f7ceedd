import type { FastifyInstance } from 'fastify'
import type { ControlDeps } from '../control-parts.ts'
import { AuditReportSchema } from '../schemas.ts'

/** Whether the money adds up. 200 also when it does not: the answer is the report. */
export async function auditRoutes(app: FastifyInstance, { audit }: ControlDeps): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_audit',
    summary: 'Do API, ledger and chain agree on every portfolio?',
    response: { 200: AuditReportSchema },
  }
  const config = { errors: ['chain_unavailable', 'sandbox_starting'] } as const
  app.get('/_sandbox/audit', { schema, config }, () => audit())
}
