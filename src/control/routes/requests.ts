import { Readable } from 'node:stream'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ERRORS, invalidParameters, Problem } from '../../domain/errors.ts'
import { OPERATIONS } from '../../domain/operations.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../domain/pagination.ts'
import { KINDS } from '../../faults/kinds/index.ts'
import { FROM_HEADER } from '../../faults/strike.ts'
import { shorten } from '../../support/foreign-text.ts'
import { suggest } from '../../support/nearest.ts'
import { abortController } from '../../support/waiting.ts'
import { explainExchange } from '../../traffic/explain-exchange.ts'
import { harOf, harPieces } from '../../traffic/har.ts'
import { type NextExchangeQuery, nextExchange } from '../../traffic/next-exchange.ts'
import {
  type ExchangeFilter,
  type ExchangeQuery,
  exchangesInOrder,
  kept,
  originalOf,
  pageExchanges,
} from '../../traffic/page-exchanges.ts'
import { EXCHANGE_ENDS, type ExchangeEnd } from '../../traffic/recorded-exchange.ts'
import { ANSWERED_CODES } from '../../verdict/coverage.ts'
import { type ControlDeps, controlOf, type NamespaceControl } from '../control-parts.ts'
import { ExchangePageSchema, ExplainedExchangeSchema, eitherForm, NextExchangeSchema } from '../exchange-schemas.ts'
import { oneOf } from '../schema-parts.ts'

const Format = Type.Optional(oneOf(['json', 'har'], 'har: an HTTP Archive, for developer tools. Default: json.'))
const word = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

const ENDED = EXCHANGE_ENDS.filter((end): end is Exclude<ExchangeEnd, 'open'> => end !== 'open')

const PARTS = {
  operation: Type.Optional(oneOf(OPERATIONS, 'Those of this operation.')),
  tenant: word('Those of this tenant, by its slug.'),
  external_id: word('Those about this end user.'),
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5]([0-9][0-9]|xx)$',
      title: 'a status or a class of them',
      description: 'Those answered with this status, or with one of a class such as 4xx.',
      examples: ['4xx'],
    }),
  ),
  code: word('Those refused with this error code, also when nobody was told.'),
  end: Type.Optional(oneOf(EXCHANGE_ENDS, 'Those that ended so.')),
  fault: word('Those struck by this fault: its id, or its kind.'),
  idempotency_key: word('Those with this key.'),
  connection: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,14}$',
      title: 'the ordinal of a connection',
      description: 'Those that came on this connection, by its ordinal.',
      examples: ['1'],
    }),
  ),
}

const Filter = Type.Object(
  {
    ...PARTS,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        description: `Page size. Default: ${DEFAULT_LIMIT}, and of an archive as many as there are.`,
      }),
    ),
    starting_after: word('next_cursor of the page before.'),
    format: Format,
  },
  { additionalProperties: false },
)

/** Milliseconds of real time that a request for the next exchange may wait: some proxies end what is silent for longer. */
const MAX_WAIT_MS = 20_000

const NextFilter = Type.Object(
  {
    ...PARTS,
    end: Type.Optional(oneOf(ENDED, 'Those that ended so.')),
    after: word(
      'Those that ended after this request, by its id; after a `place`; or after `now`. Left out: the first on record.',
    ),
    wait_ms: Type.Optional(
      Type.String({
        pattern: '^([0-9]{1,4}|1[0-9]{4}|20000)$',
        title: `milliseconds, from 0 to ${MAX_WAIT_MS}`,
        description: `How long to wait for one, in milliseconds of real time. Default: ${MAX_WAIT_MS}.`,
        examples: ['4000'],
      }),
    ),
  },
  { additionalProperties: false },
)

/** Codes that an answer may have: every error of the sandbox, and of its token endpoint. */
const CODES: readonly string[] = [...new Set([...Object.keys(ERRORS), ...ANSWERED_CODES])]

const KIND_NAMES = KINDS.map(({ kind }) => kind)
/** Id of a fault in force, or of an earlier one. */
const FAULT_ID = new RegExp(`^(fault-[1-9][0-9]*|${FROM_HEADER})$`)

/** Throws Problem validation_error for unknown words, with the nearest known one; otherwise an empty list would look like the answer. */
async function refuseUnknown(
  { code, tenant, fault }: Pick<Static<typeof Filter>, 'code' | 'tenant' | 'fault'>,
  { tenants }: NamespaceControl,
): Promise<void> {
  const unknown: Parameters<typeof invalidParameters>[0][number][] = []
  const check = (param: string, value: string | undefined, what: string, known: readonly string[]) => {
    if (value === undefined || known.includes(value)) return
    unknown.push({ param, detail: `"${shorten(value)}" is not ${what}; ${suggest(value, known)}` })
  }
  // The fault unknown_values makes subclasses of codes.
  check('code', code?.replace(/_unspecified$/, ''), 'an error code', CODES)
  if (tenant !== undefined) {
    const slugs = (await tenants()).map(({ slug }) => slug)
    check('tenant', tenant, 'the slug of a tenant', slugs)
  }
  if (fault !== undefined && !FAULT_ID.test(fault)) check('fault', fault, 'the id or kind of a fault', KIND_NAMES)
  if (unknown.length > 0) throw invalidParameters(unknown)
}

const FormatOnly = Type.Object({ format: Format }, { additionalProperties: false })
/** Stands for the id of the newest request. */
const LATEST = 'latest'
const Params = Type.Object({
  request_id: Type.String({ description: `As the answer has it, or \`${LATEST}\` for the newest request.` }),
})

const tags = ['Control']

/** The recorded requests of clients, the answers, and explanations. */
export async function requestRoutes(app: FastifyInstance, { version, sandboxOf }: ControlDeps): Promise<void> {
  const makerOf = (request: FastifyRequest) => ({ version, baseUrl: sandboxOf(request).origin.url })
  app.get<{ Querystring: Static<typeof Filter> }>(
    '/requests',
    {
      schema: {
        tags,
        operationId: 'list_requests',
        summary: 'Requests to the service and what became of them, newest first',
        querystring: Filter,
        response: { 200: eitherForm(ExchangePageSchema) },
      },
      config: { errors: ['cursor_invalid', 'cursor_expired'] },
    },
    async (request, reply) => {
      const namespace = controlOf(request)
      const { exchanges } = namespace
      const { format, ...query } = request.query
      await refuseUnknown(query, namespace)
      if (format === 'har') {
        const pieces = harPieces(await exchangesInOrder(exchanges, queryOf(query)), makerOf(request))
        return reply.type('application/json; charset=utf-8').send(Readable.from(pieces))
      }
      return pageExchanges(exchanges, { limit: DEFAULT_LIMIT, ...queryOf(query) })
    },
  )
  app.get<{ Querystring: Static<typeof NextFilter> }>(
    '/requests/next',
    {
      schema: {
        tags,
        operationId: 'next_request',
        summary: 'The next request to end, and what became of it; waits for it',
        querystring: NextFilter,
        response: { 200: { ...NextExchangeSchema, description: 'The request, or none in time.' } },
      },
      config: { errors: ['cursor_expired', 'request_not_found', 'sandbox_starting'] },
    },
    async (request, reply) => {
      const namespace = controlOf(request)
      const { wait_ms = MAX_WAIT_MS, ...query } = request.query
      await refuseUnknown(query, namespace)
      const over = abortController()
      void namespace.clock.wallSleep(Number(wait_ms), over.signal).then(() => over.abort())
      reply.raw.once('close', () => over.abort())
      return nextOf(namespace, queryOf<NextExchangeQuery>(query), over)
    },
  )
  app.get<{ Params: Static<typeof Params>; Querystring: Static<typeof FormatOnly> }>(
    '/requests/:request_id',
    {
      schema: {
        tags,
        operationId: 'get_request',
        summary: 'One request, explained',
        params: Params,
        querystring: FormatOnly,
        response: { 200: eitherForm(ExplainedExchangeSchema) },
      },
      config: { errors: ['request_not_found'] },
    },
    async (request) => {
      const { exchanges, isSettled } = controlOf(request)
      const { request_id } = request.params
      const [newest] = request_id === LATEST ? exchanges.newestFirst() : []
      const exchange = newest ?? exchanges.get(request_id)
      if (!exchange) {
        const detail = `There is no request "${shorten(request_id)}": ${kept(exchanges)}.`
        throw new Problem('request_not_found', { detail, param: 'request_id' })
      }
      if (request.query.format === 'har') return harOf([exchange], makerOf(request))
      const transaction = exchange.transfer?.transaction_id
      const original = await originalOf(exchange, exchanges)
      const settled = transaction != null && (await isSettled(transaction))
      return { ...exchange, explanation: explainExchange(exchange, { original, settled }) }
    },
  )
  const cleared = { 204: { type: 'null', description: 'None is kept.' } }
  app.delete(
    '/requests',
    { schema: { tags, operationId: 'clear_requests', summary: 'Forget the requests so far', response: cleared } },
    async (request, reply) => {
      controlOf(request).exchanges.clear()
      return reply.code(204).send()
    },
  )
}

/** Throws Problem request_not_found if nothing is recorded, and sandbox_starting if no exchange will end any more. */
async function nextOf({ exchanges }: NamespaceControl, query: NextExchangeQuery, over: AbortController) {
  if (!exchanges.on) {
    const detail = 'This sandbox records no requests: start it without --record-exchanges 0 and --record-bytes 0.'
    throw new Problem('request_not_found', { detail })
  }
  const next = await nextExchange(exchanges, query, over.signal)
  over.abort()
  if (next.data !== null || !exchanges.ends.stopped) return next
  throw new Problem('sandbox_starting', { detail: 'The sandbox is stopping, or the namespace was deleted.' })
}

function queryOf<Query extends ExchangeQuery | NextExchangeQuery = ExchangeQuery>({
  status,
  connection,
  ...rest
}: Omit<Query, 'status' | 'connection'> & { status?: string; connection?: string }) {
  return {
    ...rest,
    ...(status !== undefined && { status: statusOf(status) }),
    ...(connection !== undefined && { connection: Number(connection) }),
  }
}

function statusOf(text: string): NonNullable<ExchangeFilter['status']> {
  return text.endsWith('xx') ? (text as '4xx') : Number(text)
}
