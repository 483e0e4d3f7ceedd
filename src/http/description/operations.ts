import type { FastifySchema, RouteOptions } from 'fastify'
import { from, SPECIFICATION } from '../../domain/described-schema.ts'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import { KEY_FORMS } from '../../domain/idempotency-key.ts'
import { scopeOf } from '../../domain/idp-claims.ts'
import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { Endpoint, Known } from '../../partner-api/endpoint.ts'
import { problemType } from '../problem.ts'
import { headers, type Json, originOf, problemSchema } from './components.ts'

/** Context for the description of an operation. */
export interface DescribedWith {
  settings: ServiceSettings
  answers: Answers
  /** For the examples of requests. */
  known: Known
  /** True if the service is described alone: the user token is a parameter then, not a security scheme. */
  alone: boolean
}

/** Errors of HTTP itself, which any path may answer. */
const BEFORE_ROUTING = ['validation_error', 'request_timeout', 'request_header_fields_too_large'] as const
const OF_HTTP = [...BEFORE_ROUTING, 'uri_too_long', 'not_implemented', 'internal_error'] as const
/** Headers of the control interface, whose answers hold secrets. */
const OF_CONTROL = ['Cache-Control', 'Cross-Origin-Resource-Policy', 'X-Content-Type-Options'] as const
const WITH_BODY = ['payload_too_large', 'unsupported_media_type'] as const
/** Errors that a fault asks for by status, and those of a request that brings a fault along. */
const OF_FAULTS = [
  'rate_limited',
  'bad_gateway',
  'service_unavailable',
  'gateway_timeout',
  'control_token_required',
] as const

/** All errors of an endpoint: its own, and those that follow from its credentials and body. */
function errorsOf({ errors, user_token, idempotency, body }: Endpoint, settings: ServiceSettings): ErrorCode[] {
  const credentials = ['token_missing', 'invalid_idp_token', 'unknown_partner', 'insufficient_role'] as const
  const all: ErrorCode[] = [...credentials, ...errors, ...OF_HTTP, ...OF_FAULTS, 'sandbox_starting']
  if (user_token) all.push('invalid_user_token', 'sub_url_mismatch')
  if (all.includes('invalid_user_token') && settings.user_token_codes === 'several') {
    all.push('unknown_partner_issuer', 'cross_tenant_jwt')
  }
  if (idempotency !== 'none') {
    all.push('idempotency_key_in_use_with_different_params', 'idempotency_key_in_progress')
  }
  if (idempotency === 'required') all.push('idempotency_key_required')
  if (body) all.push(...WITH_BODY)
  return all
}

/** spec: Versioning 6 */
const ANNOUNCED = ['Deprecation', 'Sunset', 'Link']

/** Describes an endpoint of the service: its handler's schemas, and the additions of the pipeline. */
export function describeEndpoint(endpoint: Endpoint, { settings, answers, known, alone }: DescribedWith): Json {
  const { operation, success, assumptions = [], user_token, idempotency, params, querystring, body } = endpoint
  const { status, description, schema, example, source } = success
  const good = { [status]: { description, content: { 'application/json': { schema, example } }, ...from(source) } }
  const withKey = idempotency === 'none' ? [] : ['Idempotency-Key-Replay']
  const scope = scopeOf(settings.audience)
  const user = user_token && { user_token: [] }
  const bodyExample = endpoint.bodyExample?.(known)
  return {
    operationId: operation,
    tags: ['Partner API'],
    summary: endpoint.summary,
    description: endpoint.description,
    security: alone
      ? [{ client_credentials: [scope] }]
      : [
          { idp_token: [], ...user },
          { client_credentials: [scope], ...user },
        ],
    ...from(...assumptions),
    parameters: [
      ...parametersOf('path', params, { external_id: known.external_id }),
      ...parametersOf('query', querystring),
      ...(alone && user_token ? [USER_TOKEN] : []),
      ...(idempotency === 'none' ? [] : [idempotencyKey(idempotency, settings)]),
    ],
    ...(body && { requestBody: bodyOf(body, bodyExample) }),
    responses: answers.withHeaders(answers.merge(good, answers.ofErrors(errorsOf(endpoint, settings))), [
      ...withKey,
      ...ANNOUNCED,
    ]),
  }
}

/** Describes a route beside the service: the identity provider, the chains, the control interface. */
export function describeNeighbour({ url, schema = {}, config = {} }: RouteOptions, { answers }: DescribedWith): Json {
  const { operationId, tags, summary, description, security, params, querystring, body, consumes, response } = schema
  const own = Object.fromEntries(
    Object.entries(response ?? {}).map(([status, answer]) => [status, answerOf(answer as Json)]),
  )
  const errors: ErrorCode[] = [...(config.errors ?? [])]
  // The token endpoint uses OAuth's words for errors of the service's catalogue.
  const inOAuth = consumes !== undefined
  errors.push(...(inOAuth ? BEFORE_ROUTING : OF_HTTP))
  const inControl = url.startsWith('/_sandbox')
  const guarded = inControl && !config.open
  if (guarded) errors.push('control_forbidden', 'control_token_required')
  if (inControl && body) errors.push(...WITH_BODY)
  return {
    operationId,
    tags,
    summary,
    ...(description !== undefined && { description }),
    security: guarded ? [{}, { control_token: [] }] : (security ?? []),
    ...from(...sourcesOf(url)),
    parameters: [...parametersOf('path', params), ...parametersOf('query', querystring)],
    ...(body !== undefined && { requestBody: bodyOf(body as Json, undefined, consumes?.[0]) }),
    responses: answers.withHeaders(answers.merge(own, answers.ofErrors(errors)), inControl ? OF_CONTROL : []),
  }
}

/** Origins of a route beside the service. */
function sourcesOf(url: string): string[] {
  if (url === '/oauth2/token') return [SPECIFICATION, 'idp-errors', 'idp-lifetime', 'idp-token-claims']
  if (url.endsWith('/oauth2/v2.0/token')) return ['token-address-tenant']
  return url.includes('/.well-known/') ? ['idp-metadata'] : ['sandbox-routes']
}

/** A route's own answer, given as a schema or as the answer itself. */
function answerOf(given: Json): DescribedAnswer {
  const { description = 'What was asked for.' } = given as { description?: string }
  if ('content' in given) return { ...given, description }
  if (given.type === 'null')
    return { description, ...(given.headers !== undefined && { headers: given.headers as Json }) }
  return { description, content: { 'application/json': { schema: given } } }
}

function parametersOf(place: 'path' | 'query', schema: unknown, known: Json = {}): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, examples, ...property }]) => {
    const example = known[name] ?? (Array.isArray(examples) ? examples[0] : undefined)
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: property,
      ...(example !== undefined && { example }),
    }
  })
}

function bodyOf(schema: Json, example: unknown = exampleIn(schema), type = 'application/json'): Json {
  return { required: true, content: { [type]: { schema, ...(example !== undefined && { example }) } } }
}

function exampleIn({ examples }: Json): unknown {
  return Array.isArray(examples) ? examples[0] : undefined
}

function idempotencyKey(
  idempotency: 'required' | 'accepted',
  { idempotency_key_format: format }: ServiceSettings,
): Json {
  const { pattern, words } = KEY_FORMS[format]
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: idempotency === 'required',
    description: `Fresh per logical attempt, the same when retrying: ${words}.`,
    schema: { type: 'string', pattern: pattern.source, ...from(SPECIFICATION, 'idempotency-format') },
    example: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  }
}

/** The user token as a parameter. */
const USER_TOKEN = {
  name: 'X-User-Token',
  in: 'header',
  required: true,
  description: 'RS256 JWT that the partner mints for the end user: its sub is the external_id of the path.',
  schema: { type: 'string', ...from(SPECIFICATION) },
}

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    tags?: readonly string[]
    summary?: string
    description?: string
    security?: readonly Record<string, readonly string[]>[]
    consumes?: readonly string[]
    hide?: boolean
  }
}

/** @returns true if the route belongs in the description */
export function isDescribed({ method, schema }: RouteOptions): boolean {
  return typeof method === 'string' && method !== 'HEAD' && (schema as FastifySchema | undefined)?.hide !== true
}

/** Description of the answer of one status. */
interface DescribedAnswer extends Json {
  description: string
  headers?: Json
  content?: Record<string, Json>
}

/** Headers by status that an answer may carry beside the version and the request id. */
const HEADERS: Record<string, readonly string[]> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  415: ['Accept-Encoding'],
  429: ['Retry-After'],
  500: ['Retry-After'],
  502: ['Retry-After'],
  503: ['Retry-After'],
  504: ['Retry-After'],
}

/** Describes answers under these settings. */
export class Answers {
  readonly #settings: ServiceSettings
  readonly #type: string

  constructor(settings: ServiceSettings) {
    this.#settings = settings
    this.#type = problemType(settings).split(';', 1)[0] ?? ''
  }

  /** Error answers by status, of these codes. */
  ofErrors(codes: readonly ErrorCode[]): Record<string, DescribedAnswer> {
    const statuses = [...new Set(codes.map((code) => ERRORS[code].status))]
    return Object.fromEntries(
      statuses.map((status) => {
        const own = [...new Set(codes)].filter((code) => ERRORS[code].status === status)
        const examples = Object.fromEntries(own.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
        const description = own.map((code) => `\`${code}\``).join(', ')
        const content = { [this.#type]: { schema: problemSchema(this.#settings), examples } }
        return [status, { description, ...from(...own.map(originOf)), content }]
      }),
    )
  }

  /** Merges two sets of answers; a status of both has both forms. */
  merge(
    some: Record<string, DescribedAnswer>,
    others: Record<string, DescribedAnswer>,
  ): Record<string, DescribedAnswer> {
    const statuses = [...new Set([...Object.keys(some), ...Object.keys(others)])].sort()
    return Object.fromEntries(
      statuses.map((status) => {
        const [a, b] = [some[status], others[status]]
        if (!a || !b) return [status, a ?? b ?? { description: '' }]
        const description = `${a.description} ${b.description}`
        return [status, { ...a, ...b, description, headers: { ...b.headers, ...a.headers }, content: bothOf(a, b) }]
      }),
    )
  }

  /** Adds the headers of every answer; `more` are names of others. */
  withHeaders(answers: Record<string, DescribedAnswer>, more: readonly string[] = []): Record<string, DescribedAnswer> {
    const { ofEveryAnswer } = headers(this.#settings)
    return Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => {
        const names = [...ofEveryAnswer, ...more, ...(HEADERS[status] ?? [])]
        const shared = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
        return [status, { ...answer, headers: { ...shared, ...answer.headers } }]
      }),
    )
  }
}

function bothOf(a: DescribedAnswer, b: DescribedAnswer): Record<string, Json> {
  const content: Record<string, Json> = { ...a.content }
  for (const [type, other] of Object.entries(b.content ?? {})) {
    const one = content[type]
    content[type] = one ? { ...other, ...one, schema: { anyOf: [one.schema, other.schema] } } : other
  }
  return content
}
