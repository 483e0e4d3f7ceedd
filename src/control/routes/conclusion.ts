import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import { controlOf } from '../control-parts.ts'
import { AuditedMoneySchema, ConclusionSchema } from '../guest-schemas.ts'
import { oneOf } from '../schema-parts.ts'

const Body = named(
  'ConclusionWish',
  Type.Object(
    { end: oneOf(['well', 'failed', 'hung'], 'How the command ended that the client is part of.') },
    { additionalProperties: false, examples: [{ end: 'well' }], ...from('sandbox-routes') },
  ),
)

const tags = ['Control']

/** What a command that runs a client needs at its end to judge it in its own process, as `exec` and `explore` do. */
export async function conclusionRoutes(app: FastifyInstance): Promise<void> {
  app.post<{ Body: Static<typeof Body> }>(
    '/conclusion',
    {
      schema: {
        tags,
        operationId: 'conclude',
        summary: 'Remove all faults, wait for transfers under way, and answer what a verdict is made from',
        body: Body,
        response: { 200: ConclusionSchema },
      },
      config: { errors: ['validation_error', 'sandbox_starting'] },
    },
    (request) => controlOf(request).conclude(request.body.end),
  )
  app.get(
    '/audited_money',
    {
      schema: {
        tags,
        operationId: 'get_audited_money',
        summary: 'All money by ledger and chain, with an audit; no transfer may be under way',
        response: { 200: AuditedMoneySchema },
      },
      config: { errors: ['sandbox_starting', 'chain_unavailable'] },
    },
    (request) => controlOf(request).auditedMoney(),
  )
}
