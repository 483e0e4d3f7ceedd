import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { invalidParameters, Problem, parameterFault } from '../../domain/errors.ts'
import { schemaIssues } from '../../support/schema-issues.ts'
import type { FaultKindDescription } from '../contract.ts'
import { controlOf } from '../control-parts.ts'
import { oneOf } from '../schema-parts.ts'
import { FaultKindsSchema, FaultPreviewsSchema, FaultsSchema, RuleSchema } from '../schemas.ts'
import { noteTaken } from '../taken-away.ts'

const EXAMPLE = { kind: 'error', match: { operation: 'deposit' }, with: { code: 'rate_limited' } }

const Preview = Type.Object(
  {
    preview: Type.Optional(
      oneOf(['1', '0'], '1: check the rules and say what they would do, and put nothing in force.'),
    ),
  },
  { additionalProperties: false },
)

/** @returns true if a preview is asked for. Throws Problem validation_error: the route checks the rules of its body by itself. */
function isPreview(query: Static<typeof Preview>): boolean {
  const issues = schemaIssues(Preview, query)
  if (issues.length > 0) throw invalidParameters(issues.map(parameterFault))
  return query.preview === '1'
}

/** The faults in force. The engine itself checks a rule, since its messages suggest the nearest valid name. */
export async function faultRoutes(app: FastifyInstance): Promise<void> {
  const tags = ['Control']
  const body = Type.Union([RuleSchema, Type.Array(RuleSchema)], { examples: [EXAMPLE] })
  const url = '/faults'
  const added = { 200: FaultPreviewsSchema, 201: FaultsSchema }
  const cleared = { 204: { type: 'null', description: 'Whatever they had broken is mended.' } }
  const clearing = { errors: ['chain_unavailable'] } as const
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'list_faults',
        summary: 'Faults in force, with their hits',
        response: { 200: FaultsSchema },
      },
    },
    (request) => controlOf(request).faults.list(),
  )
  app.get(
    '/fault_kinds',
    {
      schema: {
        tags,
        operationId: 'list_fault_kinds',
        summary: 'What can go wrong, with the parameters of each kind',
        response: { 200: FaultKindsSchema },
      },
    },
    // Loaded at the first request: most runs never need it.
    async (): Promise<FaultKindDescription[]> => (await import('../../faults/describe-kinds.ts')).describeKinds(),
  )
  app.post<{ Body: unknown; Querystring: Static<typeof Preview> }>(
    url,
    {
      schema: {
        tags,
        operationId: 'add_faults',
        summary: 'Put faults in force, or see what they would do',
        querystring: Preview,
        body,
        response: added,
      },
      validatorCompiler: () => () => true,
    },
    async (request, reply) => {
      const { faults, tenants } = controlOf(request)
      const rules: unknown[] = Array.isArray(request.body) ? request.body : [request.body]
      const slugs = (await tenants()).map(({ slug }) => slug)
      if (isPreview(request.query)) return faults.preview(rules, slugs)
      return reply.code(201).send(faults.add(rules, slugs))
    },
  )
  app.delete(
    url,
    {
      schema: { tags, operationId: 'clear_faults', summary: 'Clear every fault', response: cleared },
      config: clearing,
    },
    async (request, reply) => {
      const { faults } = controlOf(request)
      noteTaken(request, 'clearings')
      faults.clear()
      await faults.repairs.settleAll()
      return reply.code(204).send()
    },
  )
  const params = Type.Object({ id: Type.String() })
  const schema = { tags, operationId: 'remove_fault', summary: 'Clear one fault', params, response: cleared }
  const config = { errors: ['fault_not_found', ...clearing.errors] } as const
  app.delete<{ Params: { id: string } }>(`${url}/:id`, { schema, config }, async (request, reply) => {
    const { faults } = controlOf(request)
    noteTaken(request, 'clearings', ({ id }) => id === request.params.id)
    if (!faults.remove(request.params.id)) {
      throw new Problem('fault_not_found', { detail: 'No fault with this id is in force.', param: 'id' })
    }
    await faults.repairs.settleAll()
    return reply.code(204).send()
  })
}
