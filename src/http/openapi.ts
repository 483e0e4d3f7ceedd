import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Origin } from '../domain/origin.ts'
import type { Store } from '../domain/ports/store.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'

const HIDDEN = { schema: { hide: true } }

/** Another page that frames this one could redirect a user's clicks to it (clickjacking). */
const UNFRAMED = { 'content-security-policy': "frame-ancestors 'none'", 'x-frame-options': 'DENY' }

/** Dependencies of the description's routes. */
export interface OpenApiDeps {
  settings: ServiceSettings
  /** Source of the examples. */
  store: Store
  /** If set, the description is open to people who may not know the sandbox's data: its examples are the fixture's. */
  controlToken: string | undefined
  origin: Origin
}

/**
 * Serves the interface's description, made from the schemas that validate, at /openapi.json and for browsing at /docs. It covers the
 * routes registered after this call. Its code is loaded at the first request, since most runs never get one.
 */
export function registerOpenApi(app: FastifyInstance, endpoints: readonly Endpoint[], deps: OpenApiDeps): void {
  const { settings, store, controlToken, origin } = deps
  const routes: RouteOptions[] = []
  let pages: Promise<FastifyInstance> | undefined
  const description = async ({ headers }: FastifyRequest) => {
    const { openApiDocument, knownIn, knownOfFixture } = await import('./description/openapi-document.ts')
    const shipped = knownOfFixture(settings)
    const known = controlToken === undefined ? await knownIn(store, shipped) : shipped
    // A page may only try requests to its own origin, so the document has the name of loopback that the page came under.
    return openApiDocument({ routes, endpoints, settings, known, baseUrl: origin.under(headers.host) })
  }
  const browse = async (request: FastifyRequest, reply: FastifyReply) => {
    pages ??= import('./description/pages.ts').then(({ descriptionPages }) => descriptionPages())
    const { url, headers } = request
    const answer = await (await pages).inject({ url, headers })
    if (answer.statusCode >= 400) return reply.callNotFound()
    const { connection: _, ...fields } = answer.headers
    return reply
      .code(answer.statusCode)
      .headers({ ...fields, ...UNFRAMED })
      .send(answer.rawPayload)
  }
  for (const url of ['/openapi.json', '/docs/json']) app.get(url, HIDDEN, description)
  // The pages would make a document from their own routes, and they have none.
  app.get('/docs/yaml', HIDDEN, (_, reply) => reply.callNotFound())
  for (const url of ['/docs', '/docs/*']) app.get(url, HIDDEN, browse)
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })
}
