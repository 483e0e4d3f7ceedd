import type { FastifySchema } from 'fastify'
import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { problemType } from './problem.ts'

/** spec: Errors. Fields beside code are assumption `error-body`. */
export const PROBLEM = {
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

/** Those of HTTP itself, whatever the path. */
const OF_HTTP = [
  'validation_error',
  'request_timeout',
  'uri_too_long',
  'request_header_fields_too_large',
  'not_implemented',
] as const

/** The errors an endpoint's credentials imply, whatever it does. */
function errorsOf({ errors, user_token, idempotency, body }: Endpoint): ErrorCode[] {
  const credentials = ['token_missing', 'invalid_idp_token', 'unknown_partner', 'insufficient_role'] as const
  const all: ErrorCode[] = [...OF_HTTP, ...credentials, ...errors]
  if (user_token) all.push('invalid_user_token', 'sub_url_mismatch')
  if (idempotency !== 'none') all.push('idempotency_key_in_use_with_different_params')
  if (idempotency === 'required') all.push('idempotency_key_required')
  if (body) all.push('payload_too_large', 'unsupported_media_type')
  return [...new Set([...all, 'rate_limited' as const, 'internal_error' as const, 'sandbox_starting' as const])]
}

const CHALLENGE = { type: 'string', description: 'RFC 6750 §3: which credential is missing or refused.' }
const RETRY_AFTER = { type: 'integer', description: 'Seconds to wait before the request is repeated.' }

/** What an answer of a status carries besides, by status. */
const HEADERS_OF: Record<number, object> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
}

const PROBLEM_REF = { $ref: '#/components/schemas/Problem' }

/** Turns routes into their description under these settings: header names, media type of errors. */
export function describer(settings: ServiceSettings) {
  const [errorType = ''] = problemType(settings).split(';')
  const headers = {
    [`X-${settings.name}-Api-Version`]: { type: 'string', description: '1.0.0 for v1.', 'x-assumption': 'brand' },
    [`X-${settings.name}-Request-Id`]: {
      type: 'string',
      description: 'Identifies the request.',
      'x-assumption': 'brand',
    },
  }

  /** An endpoint of the service: what its handler's schemas say, and what the pipeline adds. */
  function describe(endpoint: Endpoint, schema: FastifySchema | undefined): FastifySchema {
    const { success, assumptions = [] } = endpoint
    const content = { 'application/json': { schema: success.schema, example: success.example } }
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
        [success.status]: { description: success.description, headers, content },
        ...Object.fromEntries(byStatus(errorsOf(endpoint)).map(errorResponse)),
      },
    } as FastifySchema
  }

  function errorResponse([status, codes]: [number, ErrorCode[]]) {
    const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, settings) }]))
    const description = codes.map((code) => `\`${code}\``).join(', ')
    return [
      status,
      {
        description,
        headers: { ...headers, ...HEADERS_OF[status] },
        content: { [errorType]: { schema: PROBLEM_REF, examples } },
      },
    ]
  }

  /** What control and the identity provider's documents answer besides what their own schemas say. */
  function describeNeighbour(url: string, schema: FastifySchema | undefined): FastifySchema {
    const own = schema?.response ?? { 200: { description: 'What was asked for.' } }
    const content = { [errorType]: { schema: PROBLEM_REF } }
    const failures = { '4xx': { description: 'Refused.', content }, '5xx': { description: 'Not now.', content } }
    return {
      ...schema,
      ...(url.startsWith('/_sandbox') && { security: [{}, { control_token: [] }] }),
      response: Object.keys(own).some((status) => status.startsWith('4')) ? own : { ...own, ...failures },
    } as FastifySchema
  }

  return { describe, describeNeighbour }
}

function byStatus(codes: readonly ErrorCode[]): [number, ErrorCode[]][] {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b)
  return statuses.map((status) => [status, codes.filter((code) => ERRORS[code].status === status)])
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

function exampleOf(code: ErrorCode, { error_body }: ServiceSettings) {
  return error_body === 'code_only' ? { code } : { code, ...ERRORS[code] }
}
