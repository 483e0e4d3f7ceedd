import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { invalidParameters } from '../../domain/errors.ts'
import { type FindingId, isFindingId, objectionTo } from '../../verdict/finding-ids.ts'
import { REPORT_FORM_NAMES, REPORT_FORMS } from '../../verdict/report.ts'
import { type ControlDeps, controlOf } from '../control-parts.ts'
import { RenderedSchema, ReportSchema, SarifSchema } from '../report-schema.ts'
import { oneOf } from '../schema-parts.ts'

const Query = Type.Object(
  {
    format: Type.Optional(oneOf(REPORT_FORM_NAMES, 'The form of the report; json if left out.')),
    require: Type.Optional(
      Type.String({
        description: 'Ids of findings that must be passed, separated by commas.',
        examples: ['retry-after'],
      }),
    ),
    ended: Type.Optional(
      oneOf(
        ['true', 'false'],
        'Whether the client has ended: with true, the default, what it has not done so far it will not do any more.',
      ),
    ),
    end: Type.Optional(
      oneOf(['well', 'failed', 'hung'], 'How the command ended that the client is part of; left out: nobody knows.'),
    ),
  },
  { additionalProperties: false },
)

const content = Object.fromEntries(
  REPORT_FORM_NAMES.map((name) => {
    const [type = ''] = REPORT_FORMS[name].contentType.split(';')
    return [type, { schema: name === 'json' ? ReportSchema : name === 'sarif' ? SarifSchema : RenderedSchema }]
  }),
)

/** The page itself says what it may do; that nobody may frame it can be said by a header alone. */
const UNFRAMED = { 'content-security-policy': "frame-ancestors 'none'" }
const headers = {
  'Content-Security-Policy': { description: 'Of a page: no other page may frame it.', schema: { type: 'string' } },
}

/** The report on the clients of a namespace, from their exchanges since its last reset. */
export async function reportRoutes(app: FastifyInstance, { version }: ControlDeps): Promise<void> {
  app.get<{ Querystring: Static<typeof Query> }>(
    '/report',
    {
      schema: {
        tags: ['Control'],
        operationId: 'get_report',
        summary: 'Is the client right? The verdict, its findings, the set-up, the coverage',
        querystring: Query,
        response: { 200: { description: 'The report.', content, headers } },
      },
      config: { errors: ['validation_error', 'sandbox_starting'] },
    },
    async (request, reply) => {
      const { format: form = 'json', require = '', ended, end = null } = request.query
      const options = { required: findingsIn(require), ended: ended !== 'false', end, version }
      // Loaded at the first request: the code is long, and most runs never need it.
      const { renderedReportOf } = await import('../report-of.ts')
      const text = await renderedReportOf(controlOf(request), { ...options, form })
      if (form === 'html') reply.headers(UNFRAMED)
      return reply.type(REPORT_FORMS[form].contentType).serializer(String).send(text)
    },
  )
}

/** Parses ids separated by commas. Throws Problem validation_error. */
function findingsIn(list: string): FindingId[] {
  const words = list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const wrong = words.flatMap((word) => objectionTo(word) ?? [])
  if (wrong.length > 0) {
    throw invalidParameters(wrong.map(({ message, fix }) => ({ param: 'require', detail: `${message}; ${fix}` })))
  }
  return words.filter(isFindingId)
}
