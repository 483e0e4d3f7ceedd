import { from, named, openList, SCHEMA_NAME, SPECIFICATION } from '../../domain/described-schema.ts'
import { ERRORS, type ErrorCode, Problem } from '../../domain/errors.ts'
import { scopeOf } from '../../domain/idp-claims.ts'
import type { ServiceSettings } from '../../domain/service-settings.ts'
import { MANIFEST } from '../../fidelity/manifest.ts'
import { renderProblem } from '../problem.ts'

/** JSON of any shape. */
export type Json = Record<string, unknown>

const CODES = Object.keys(ERRORS) as ErrorCode[]

/** Origin of a code: the specification itself, or a row of the fidelity manifest. */
export function originOf(code: ErrorCode): string {
  const { row } = ERRORS[code]
  return MANIFEST.find(({ id }) => id === row)?.kind === 'exact' ? SPECIFICATION : row
}

const CodeList = named(
  'ErrorCode',
  openList(CODES, {
    description: 'An open list: codes may be added (Versioning 3), and a client must read one that it does not know.',
    ...from(...CODES.map(originOf)),
  }),
)

const text = (description: string) => ({ type: 'string', description })

/** spec: Errors. Fields beside code are assumption `error-body`; the setting `code_only` leaves them out. */
const ALL_OF_A_PROBLEM = {
  code: CodeList,
  type: text('urn:yield-partner-api:error: and the code.'),
  title: text('What the code means, for people.'),
  status: { type: 'integer', description: 'The status of the answer.' },
  detail: text('What went wrong, for people.'),
  instance: text('The path of the request.'),
  request_id: text(
    'Same as the request-id header of the answer; in a replay, that of the first answer under the Idempotency-Key.',
  ),
  param: text('The parameter at fault.'),
  errors: {
    type: 'array',
    description: 'Every fault, when there are several.',
    items: {
      [SCHEMA_NAME]: 'ParameterFault',
      type: 'object',
      required: ['param', 'detail'],
      properties: { param: text('The parameter at fault.'), detail: text('What is wrong with it.') },
    },
  },
}

const DOC_URL = { ...text('Where the error is described.'), ...from('error-docs') }
const TYPE_URL = { ...text('The same address as doc_url.'), ...from('error-docs') }

/** Schema of an error body under these settings. */
export function problemSchema({ error_body, error_docs }: ServiceSettings): Json {
  const docs = error_docs !== 'none' && { type: TYPE_URL, doc_url: DOC_URL }
  const whole = error_body === 'problem'
  return {
    [SCHEMA_NAME]: 'Problem',
    type: 'object',
    required: whole ? ['code', 'type', 'title', 'status', 'detail', 'instance', 'request_id'] : ['code'],
    properties: whole ? { ...ALL_OF_A_PROBLEM, ...docs } : { code: CodeList },
    ...from(SPECIFICATION, 'error-body'),
  }
}

/** An example of each error. */
export function errorExamples(settings: ServiceSettings): Json {
  const origin = { request_id: 'req_01JGX0Z5N8Q4R7T2V9W3Y6B1CD', instance: '/v1/partner/pools' }
  const example = (code: ErrorCode) => {
    const { title } = ERRORS[code]
    const { body } = renderProblem(new Problem(code, { detail: `${title}.` }), origin, settings)
    return { summary: title, value: body, ...from(originOf(code)) }
  }
  // No operation answers it: a path's missing method is not an operation.
  const unused: ErrorCode[] = ['method_not_allowed']
  if (settings.user_token_codes === 'one') unused.push('unknown_partner_issuer', 'cross_tenant_jwt')
  const codes = CODES.filter((code) => !unused.includes(code))
  return Object.fromEntries(codes.map((code) => [code, example(code)]))
}

/** Headers that not all answers have, by their names in the description. */
export function headers({ name }: ServiceSettings) {
  const version = `X-${name}-Api-Version`
  const requestId = `X-${name}-Request-Id`
  const all = {
    [version]: header('1.0.0 for v1.', SPECIFICATION, 'brand'),
    [requestId]: header('Identifies the request.', SPECIFICATION, 'brand'),
    'Idempotency-Key-Replay': {
      ...header('true when the answer is that of an earlier request with the same key.', 'idempotency-replay-header'),
      schema: { type: 'string', enum: ['true', 'false'], ...from('idempotency-replay-header') },
    },
    'Retry-After': {
      ...header('Seconds to wait before the request is repeated.', 'retry-after'),
      schema: { type: 'integer' },
    },
    'WWW-Authenticate': header('Which credential is missing or refused (RFC 6750 §3).', 'challenges'),
    'Accept-Encoding': header('Codings of bodies that can be read (RFC 9110 §15.5.16).', 'content-codings'),
    'Cache-Control': header('no-store: it is about secrets, or about this moment.', 'sandbox-routes'),
    'Cross-Origin-Resource-Policy': header('same-origin: no page of others embeds it.', 'sandbox-routes'),
    'X-Content-Type-Options': header('nosniff: it is what its Content-Type says.', 'sandbox-routes'),
    'Set-Cookie': header('The cookie of a session, or its end.', 'sandbox-routes'),
    Deprecation: header('When the version is deprecated (RFC 9745). A fault sends it.', SPECIFICATION),
    Sunset: header('When the version will be gone (RFC 8594). A fault sends it.', SPECIFICATION),
    Link: header('Where the migration is described. A fault sends it.', SPECIFICATION),
  }
  return { all, ofEveryAnswer: [version, requestId] }
}

function header(description: string, ...origins: string[]) {
  return { description, schema: { type: 'string' }, ...from(...origins) }
}

/** Security schemes, to which operations refer. */
export function securitySchemes({ audience }: ServiceSettings): Json {
  const scopes = scopesOf(audience)
  return {
    idp_token: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'Identity-provider token, obtained at /oauth2/token.',
    },
    client_credentials: {
      type: 'oauth2',
      description: 'The same token, obtained by whoever reads this. The scope is the service audience and /.default.',
      flows: { clientCredentials: { tokenUrl: '/oauth2/token', scopes } },
    },
    user_token: {
      type: 'apiKey',
      in: 'header',
      name: 'X-User-Token',
      description:
        'RS256 JWT that the partner mints for the end user. POST /_sandbox/tenants/{slug}/user_tokens mints one.',
    },
    control_token: { type: 'http', scheme: 'bearer', description: 'Needed only when the sandbox has one.' },
  }
}

/** The one security scheme of the service alone. Importers resolve no address, so the token URL is whole. */
export function serviceSecurity({ audience }: ServiceSettings, baseUrl: string): Json {
  return {
    client_credentials: {
      type: 'oauth2',
      description: 'Identity-provider token. The scope is the service audience and /.default.',
      flows: { clientCredentials: { tokenUrl: `${baseUrl}/oauth2/token`, scopes: scopesOf(audience) } },
    },
  }
}

const scopesOf = (audience: string) => ({ [scopeOf(audience)]: 'Everything the tenant may do.' })
