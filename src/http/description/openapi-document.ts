import type { RouteOptions } from 'fastify'
import { SCHEMA_NAME } from '../../domain/described-schema.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { Endpoint, Known } from '../../partner-api/endpoint.ts'
import { examplePool, examplePortfolio } from '../../partner-api/schemas.ts'
import { errorExamples, headers, type Json, securitySchemes, serviceSecurity } from './components.ts'
import { Answers, describeEndpoint, describeNeighbour, isDescribed } from './operations.ts'

/** Parts of the interface from which the description is made. */
export interface Described {
  /** All routes that are served. */
  routes: readonly RouteOptions[]
  endpoints: readonly Endpoint[]
  settings: ServiceSettings
  known: Known
  /** URL of the sandbox; `{base_url}` is this and the base path. */
  baseUrl: string
  /** `service`: the operations of the specification alone, in a form of which importers keep both tokens. */
  only?: 'service' | undefined
}

const DESCRIPTION = `Every status, code, header, bound and list of words carries \`x-source: specification\`, or
\`x-assumption\` with ids of rows that \`GET /_sandbox/fidelity\` lists. What carries neither takes it from what it is part of.
HEAD is answered wherever GET is. A request with the header \`X-Sandbox-Fault\` meets the fault it names, which may be any code of
the catalogue, or no answer that anybody describes: a connection that breaks, the page of a proxy, fields that nobody knows.

To try it out: authorize with the client_id and client_secret of \`GET /_sandbox/credentials\`, and with a user token of
\`POST /_sandbox/tenants/{slug}/user_tokens\`.`

const SERVICE_DESCRIPTION = `The service alone, for API tools that import it. The access token comes by the client credentials grant; the user
token is a header of each operation that needs one, since importers keep one security scheme only. A sandbox gives both:
\`GET /_sandbox/credentials\` has client_id and client_secret, \`POST /_sandbox/tenants/{slug}/user_tokens\` mints a user token.

\`x-source: specification\` marks what the specification says; \`x-assumption\` names rows of \`GET /_sandbox/fidelity\`.`

const TAGS = [
  { name: 'Partner API', description: 'The service.' },
  { name: 'Identity provider', description: 'Where access tokens come from.' },
  { name: 'Chain', description: 'The chains that transactions are on.' },
  { name: 'Control', description: 'What only the sandbox has.' },
  { name: 'Namespaces', description: 'Copies of everything behind the API, and the control interface of each.' },
]

/** Makes the interface's description, an OpenAPI 3.1 document, from the schemas that validate. */
export function openApiDocument({ routes, endpoints, settings, known, baseUrl, only }: Described): Json {
  const named = new NamedSchemas()
  const alone = only === 'service'
  const context = { settings, answers: new Answers(settings), known, alone }
  const paths: Record<string, Json> = {}
  const base = settings.base_path
  // The routes beside the service are not behind its base path.
  const beside = base !== '' && { servers: [{ url: baseUrl, description: 'Beside the service' }] }
  for (const route of routes.filter(isDescribed)) {
    const endpoint = endpoints.find(({ url, method }) => url === route.url && method === route.method)
    if (alone && !endpoint) continue
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
      description: alone ? SERVICE_DESCRIPTION : DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${baseUrl}${base}`, description: 'This sandbox' }],
    tags: alone ? TAGS.slice(0, 1) : TAGS,
    paths,
    components: {
      securitySchemes: alone ? serviceSecurity(settings, baseUrl) : securitySchemes(settings),
      schemas: Object.fromEntries(Object.entries(named.schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: alone ? referredTo('headers', headers(settings).all, paths) : headers(settings).all,
      examples: alone ? referredTo('examples', errorExamples(settings), paths) : errorExamples(settings),
    },
  }
}

/** The components of a kind that the paths refer to. */
function referredTo(kind: string, components: Json, paths: Json): Json {
  const text = JSON.stringify(paths)
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  )
}

/** Keywords whose values are data, not schemas. */
const VALUES = new Set(['const', 'default', 'enum', 'example', 'examples'])

const REFERENCE = '#/components/schemas/'

/** Collects schemas under their names, and replaces each by a reference. */
export class NamedSchemas {
  readonly schemas: Record<string, Json> = {}

  /** A copy of `part` with references in the place of named schemas, in forms that client generators know. */
  refer(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((member) => this.refer(member))
    if (part === null || typeof part !== 'object') return part
    const { [SCHEMA_NAME]: name, ...rest } = part as Json
    const entries = Object.entries(inKnownForm(rest)).map(([key, value]) => [
      key,
      VALUES.has(key) ? value : this.refer(value),
    ])
    const copy: Json = Object.fromEntries(entries)
    return typeof name === 'string' ? this.#put(name, copy) : copy
  }

  #put(name: string, schema: Json): Json {
    const known = this.schemas[name]
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas are named ${name}`)
    this.schemas[name] = schema
    return { $ref: `${REFERENCE}${name}` }
  }
}

/** Words as `enum`, free members as `additionalProperties`; without the titles, which are for error messages. */
function inKnownForm({ title, patternProperties, anyOf, ...schema }: Json): Json {
  const values = anyOf === undefined ? undefined : constants(anyOf)
  return {
    // A property may be called title too; that one stays.
    ...(title !== undefined && typeof title !== 'string' && { title }),
    ...schema,
    ...(anyOf !== undefined && (values ? { type: 'string', enum: values } : { anyOf })),
    ...(patternProperties !== undefined && { additionalProperties: true }),
  }
}

/** The words of a union that consists of words only; undefined for others. */
function constants(members: unknown): string[] | undefined {
  if (!Array.isArray(members) || members.length === 0) return undefined
  const words = members.map((member: Json) => member.const)
  return words.every((word) => typeof word === 'string') ? words : undefined
}

/** Examples that exist in the shipped fixture. */
export function knownOfFixture(settings: ServiceSettings): Known {
  const { portfolio_id } = examplePortfolio(settings)
  return { external_id: 'alice', portfolio_id, pool: examplePool(settings) }
}

/** Examples that exist in this sandbox: its first tenant's first pool, end user and portfolio; `otherwise` for those that do not. */
export async function knownIn(store: Store, otherwise: Known): Promise<Known> {
  const first = async <C extends 'tenants' | 'pools' | 'end_users' | 'portfolios'>(collection: C, scope: string) =>
    (await store.page(collection, { scope, limit: 1 })).items[0]
  const tenant = await first('tenants', 'all')
  const pool = tenant && (await first('pools', tenant.tenant_id))
  if (!pool) return otherwise
  const { chain_id, token_address, market_address, protocol } = pool
  const user = await first('end_users', tenant.tenant_id)
  const portfolio = user && (await first('portfolios', user.id))
  return {
    external_id: user?.external_id ?? otherwise.external_id,
    portfolio_id: portfolio?.portfolio_id ?? otherwise.portfolio_id,
    pool: { chain_id, token_address, market_address, protocol },
  }
}
