import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'
import { AuditReportSchema } from '../schemas.ts'

/** Audits the money of a namespace. Answers 200 also if something is wrong: the answer is the report. */
export async function auditRoutes(app: FastifyInstance): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_audit',
    summary: 'Do API, ledger and chain agree on every portfolio?',
    response: { 200: AuditReportSchema },
  }
  const config = { errors: ['chain_unavailable', 'sandbox_starting'] } as const
  app.get('/audit', { schema, config }, (request) => controlOf(request).audit())
}
