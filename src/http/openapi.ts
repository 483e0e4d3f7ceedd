import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'

/** Serves the interface's description, made from the schemas that validate, at /openapi.json and to browse at /docs. */
export async function registerOpenApi(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  baseUrl: () => string,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Yield Portfolio Partner API (sandbox)',
        version: '1.0.0',
        description:
          'What the specification leaves open carries `x-assumption` with the id of an assumption; `GET /_sandbox/assumptions` lists them.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This sandbox' }],
      tags: [
        { name: 'Partner API', description: 'The service.' },
        { name: 'Identity provider', description: 'Where access tokens come from.' },
        { name: 'Control', description: 'What only the sandbox has.' },
      ],
      components: {
        securitySchemes: {
          idp_token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Identity-provider token.' },
          control_token: { type: 'http', scheme: 'bearer', description: 'Needed only when the sandbox has one.' },
          user_token: {
            type: 'apiKey',
            in: 'header',
            name: 'X-User-Token',
            description: 'RS256 JWT that the partner mints for the end user.',
          },
        },
        schemas: { Problem: PROBLEM },
      },
    },
    transform: ({ schema, url, route }) => {
      const endpoint = endpoints.find((candidate) => candidate.url === url && candidate.method === route.method)
      return { schema: endpoint ? describe(endpoint, schema) : describeNeighbour(url, schema), url }
    },
  })
  await app.register(swaggerUi, { routePrefix: '/docs', uiConfig: { docExpansion: 'list' } })
  app.get('/openapi.json', { schema: { hide: true } }, () => ({
    ...app.swagger(),
    servers: [{ url: baseUrl(), description: 'This sandbox' }],
  }))
}

/** spec: Errors. Fields beside code are assumption `error-body`. */
const PROBLEM = {
  type: 'object' as const,
  required: ['code'],
  properties: {
    code: { type: 'string' as const, description: 'What went wrong, for programs.' },
    type: { type: 'string' as const },
    title: { type: 'string' as const },
    status: { type: 'integer' as const },
    detail: { type: 'string' as const, description: 'What went wrong, for people.' },
    instance: { type: 'string' as const },
    request_id: { type: 'string' as const, description: 'Same as the request-id response header.' },
    param: { type: 'string' as const, description: 'The parameter at fault.' },
    errors: {
      type: 'array' as const,
      description: 'Every fault, when there are several.',
      items: {
        type: 'object' as const,
        properties: { param: { type: 'string' as const }, detail: { type: 'string' as const } },
      },
    },
  },
  'x-assumption': 'error-body',
}

/** The errors an endpoint's credentials imply, whatever it does. */
function errorsOf({ errors, user_token, idempotency, body }: Endpoint): ErrorCode[] {
  const all: ErrorCode[] = ['token_missing', 'invalid_idp_token', 'unknown_partner', 'insufficient_role', ...errors]
  if (user_token) all.push('invalid_user_token', 'sub_url_mismatch', 'validation_error')
  if (idempotency !== 'none') all.push('validation_error', 'idempotency_key_in_use_with_different_params')
  if (idempotency === 'required') all.push('idempotency_key_required')
  if (body) all.push('payload_too_large', 'unsupported_media_type')
  return [...new Set([...all, 'rate_limited' as const, 'internal_error' as const, 'sandbox_starting' as const])]
}

function describe(endpoint: Endpoint, schema: FastifySchema | undefined): FastifySchema {
  const { success, assumptions = [] } = endpoint
  return {
    ...schema,
    operationId: endpoint.operation,
    tags: ['Partner API'],
    summary: endpoint.summary,
    description: endpoint.description,
    security: [endpoint.user_token ? { idp_token: [], user_token: [] } : { idp_token: [] }],
    ...(assumptions.length > 0 && { 'x-assumption': assumptions.join(', ') }),
    ...(endpoint.idempotency !== 'none' && { headers: idempotencyHeader(endpoint.idempotency) }),
    response: {
      [success.status]: {
        description: success.description,
        headers: RESPONSE_HEADERS,
        content: { 'application/json': { schema: success.schema, example: success.example } },
      },
      ...errorResponses(errorsOf(endpoint)),
    },
  } as FastifySchema
}

/** What control and the identity provider's documents answer besides what their own schemas say. */
function describeNeighbour(url: string, schema: FastifySchema | undefined): FastifySchema {
  const own = schema?.response ?? { 200: { description: 'What was asked for.' } }
  const refused = { description: 'Refused.', content: { 'application/problem+json': { schema: PROBLEM_REF } } }
  return {
    ...schema,
    ...(url.startsWith('/_sandbox') && { security: [{}, { control_token: [] }] }),
    response: Object.keys(own).some((status) => status.startsWith('4')) ? own : { ...own, '4xx': refused },
  } as FastifySchema
}

const PROBLEM_REF = { $ref: '#/components/schemas/Problem' }

const RESPONSE_HEADERS = {
  'X-Service-Api-Version': { type: 'string', description: '1.0.0 for v1.', 'x-assumption': 'brand' },
  'X-Service-Request-Id': { type: 'string', description: 'Identifies the request.', 'x-assumption': 'brand' },
}

function idempotencyHeader(idempotency: Endpoint['idempotency']) {
  return {
    type: 'object',
    ...(idempotency === 'required' && { required: ['Idempotency-Key'] }),
    properties: {
      'Idempotency-Key': {
        type: 'string',
        format: 'uuid',
        description: 'UUID v4, fresh per logical attempt, the same when retrying.',
        examples: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'],
      },
    },
  }
}

function errorResponses(codes: readonly ErrorCode[]) {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const here = codes.filter((code) => ERRORS[code].status === status)
      const examples = Object.fromEntries(
        here.map((code) => [code, { value: { code, title: ERRORS[code].title, status } }]),
      )
      const description = here.map((code) => `\`${code}\``).join(', ')
      return [
        status,
        {
          description,
          headers: RESPONSE_HEADERS,
          content: { 'application/problem+json': { schema: PROBLEM_REF, examples } },
        },
      ]
    }),
  )
}
