import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { controlOf, refuseUnknownTenant } from '../control-parts.ts'
import { MoneyOverviewSchema } from '../money-schemas.ts'
import { oneOf } from '../schema-parts.ts'

/** Default number of end users, and of points of a series: more than a screen shows apart. */
const LIMIT = 100
const POINTS = 500

const Query = Type.Object(
  {
    tenant: Type.Optional(Type.String({ minLength: 1, description: 'End users of this tenant, by its slug.' })),
    external_id: Type.Optional(Type.String({ minLength: 1, description: 'End users of this name.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: `Most end users. Default: ${LIMIT}.` }),
    ),
    points: Type.Optional(
      Type.String({
        pattern: '^([4-9]|[1-9][0-9]{1,3}|10000)$',
        title: 'a whole number from 4 to 10000',
        description: `Most points of a series: of more transfers, evenly chosen ones are shown. Default: ${POINTS}.`,
        examples: ['60'],
      }),
    ),
    checks: Type.Optional(
      oneOf(['true', 'false'], 'false leaves the audit out, which is the long part. Default: true.'),
    ),
  },
  { additionalProperties: false },
)

/** The money of the end users, the pools, and the money that operations moved beyond what was asked for. */
export async function moneyRoutes(app: FastifyInstance): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'get_money',
    summary: 'Whose money is where, how it grew, and what was moved too often',
    querystring: Query,
    response: { 200: MoneyOverviewSchema },
  }
  const config = { errors: ['validation_error', 'sandbox_starting'] } as const
  app.get<{ Querystring: Static<typeof Query> }>('/money', { schema, config }, async (request) => {
    const namespace = controlOf(request)
    const { checks, points = POINTS, ...query } = request.query
    await refuseUnknownTenant(query.tenant, namespace)
    return namespace.money({ limit: LIMIT, ...query, points: Number(points), checks: checks !== 'false' })
  })
}
