import type { RouteOptions } from 'fastify'
import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { Endpoint, Known } from '../../partner-api/endpoint.ts'
import { Answers } from './answers.ts'
import { errorExamples, headers, type Json, securitySchemes } from './components.ts'
import { NamedSchemas } from './named-schemas.ts'
import { describeEndpoint, describeNeighbour, isDescribed } from './operations.ts'

/** Parts of the interface from which the description is made. */
export interface Described {
  /** All routes that are served. */
  routes: readonly RouteOptions[]
  endpoints: readonly Endpoint[]
  settings: ServiceSettings
  known: Known
  /** URL of the sandbox; `{base_url}` is this and the base path. */
  baseUrl: string
}

const DESCRIPTION = `Every status, code, header, bound and list of words carries \`x-source: specification\`, or
\`x-assumption\` with ids of rows that \`GET /_sandbox/fidelity\` lists. What carries neither takes it from what it is part of.
HEAD is answered wherever GET is. A request with the header \`X-Sandbox-Fault\` meets the fault it names, which may be any code of
the catalogue, or no answer that anybody describes: a connection that breaks, the page of a proxy, fields that nobody knows.

To try it out: authorize with the client_id and client_secret of \`GET /_sandbox/credentials\`, and with a user token of
\`POST /_sandbox/tenants/{slug}/user_tokens\`.`

const TAGS = [
  { name: 'Partner API', description: 'The service.' },
  { name: 'Identity provider', description: 'Where access tokens come from.' },
  { name: 'Chain', description: 'The chains that transactions are on.' },
  { name: 'Control', description: 'What only the sandbox has.' },
  { name: 'Namespaces', description: 'Copies of everything behind the API, and the control interface of each.' },
]

/** Makes the interface's description, an OpenAPI 3.1 document, from the schemas that validate. */
export function openApiDocument({ routes, endpoints, settings, known, baseUrl }: Described): Json {
  const named = new NamedSchemas()
  const context = { settings, answers: new Answers(settings), known }
  const paths: Record<string, Json> = {}
  const base = settings.base_path
  // The routes beside the service are not behind its base path.
  const beside = base !== '' && { servers: [{ url: baseUrl, description: 'Beside the service' }] }
  for (const route of routes.filter(isDescribed)) {
    const endpoint = endpoints.find(({ url, method }) => url === route.url && method === route.method)
    const operation = endpoint ? describeEndpoint(endpoint, context) : describeNeighbour(route, context)
    const path = route.url.slice(endpoint ? base.length : 0).replace(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      ...(!endpoint && beside),
      [String(route.method).toLowerCase()]: named.refer(operation),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Yield Portfolio Partner API (sandbox)',
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${baseUrl}${base}`, description: 'This sandbox' }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: securitySchemes(settings),
      schemas: Object.fromEntries(Object.entries(named.schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: headers(settings).all,
      examples: errorExamples(settings),
    },
  }
}
