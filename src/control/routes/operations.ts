import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../../domain/errors.ts'
import { againOf } from '../../overview/operation-again.ts'
import { shorten } from '../../support/foreign-text.ts'
import { type ControlDeps, controlOf } from '../control-parts.ts'
import { OperationDetailSchema, OperationPageSchema } from '../operation-schemas.ts'

/** Number of rows of a page, by default and at most. */
const DEFAULT_ROWS = 200
const MAX_ROWS = 1000
const NUMBER = '^[1-9][0-9]{0,14}$'

const Query = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: `Page size. Default: ${DEFAULT_ROWS}.` }),
    ),
    before: Type.Optional(
      Type.String({
        pattern: NUMBER,
        title: 'the number of an operation',
        description: 'Only operations with a lower number: next_before of the page before.',
        examples: ['100'],
      }),
    ),
  },
  { additionalProperties: false },
)

const Params = Type.Object({
  number: Type.String({ description: 'Of the operation, or of one of its requests.', examples: ['1'] }),
})

/** The operations of clients: every request in its place, what became of it, and what it did to whose money. */
export async function operationRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  const tags = ['Control']
  app.get<{ Querystring: Static<typeof Query> }>(
    '/operations',
    {
      schema: {
        tags,
        operationId: 'list_operations',
        summary: 'Operations of clients with all their attempts, newest first',
        querystring: Query,
        response: { 200: OperationPageSchema },
      },
    },
    (request) => {
      const { limit = DEFAULT_ROWS, before } = request.query
      return controlOf(request).overview.page(limit, before === undefined ? undefined : Number(before))
    },
  )
  app.get<{ Params: Static<typeof Params> }>(
    '/operations/:number',
    {
      schema: {
        tags,
        operationId: 'get_operation',
        summary: 'One operation: its attempts, its money, the rules that it breaks',
        params: Params,
        response: { 200: OperationDetailSchema },
      },
      config: { errors: ['operation_not_found'] },
    },
    async (request) => {
      const { number } = request.params
      const found = new RegExp(NUMBER).test(number) && (await controlOf(request).overview.operation(Number(number)))
      const { origin, controlToken } = sandboxOf(request)
      const control = `${origin.url}${request.url.replace(/\/operations\/.*/, '')}`
      const again = found && againOf(found, { origin: origin.url, control, needsToken: controlToken !== undefined })
      if (again) return { ...found, again }
      const detail = `There is no operation "${shorten(number)}" on record; GET /_sandbox/operations lists them.`
      throw new Problem('operation_not_found', { detail, param: 'number' })
    },
  )
}
