import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { oneWordOf } from '../support/text-kind.ts'
import type { EntranceDeps } from './entrance.ts'
import { HTML, PAGE, PageFolder, STRICT } from './page-folder.ts'
import { ServedFile } from './served-file.ts'

const Query = Type.Object(
  { only: Type.Optional(oneWordOf(['service'], { description: 'service: the service alone.' })) },
  { additionalProperties: false },
)

const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>/docs is not built</title><h1>/docs is not built</h1>' +
  '<p>Run <code>npm run build</code> in the folder of yield-sandbox. <a href="/openapi.json">The description</a> is there all the same.</p></html>\n'

/** Dependencies of the description's routes. */
export interface OpenApiDeps extends Pick<EntranceDeps, 'settings' | 'sandboxOf'> {
  /** Folder of the page at /docs, made by the build. */
  docs: URL
}

/**
 * Serves the interface's description, made from the schemas that validate, at /openapi.json and for browsing at /docs. It covers the
 * routes registered after this call. Its code is loaded at the first request, since most runs never get one. For files that the page does
 * not have, `refuse` answers.
 */
export function registerOpenApi(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  deps: OpenApiDeps,
  refuse: (request: FastifyRequest) => never,
): void {
  const { settings, sandboxOf } = deps
  const routes: RouteOptions[] = []
  app.get<{ Querystring: Static<typeof Query> }>(
    '/openapi.json',
    { schema: { hide: true, querystring: Query } },
    async (request, reply) => {
      const { openApiDocument, knownIn, knownOfFixture } = await import('./description/openapi-document.ts')
      const { controlToken, fallback, origin } = sandboxOf(request.raw)
      const shipped = knownOfFixture(settings)
      // With a control token, the description is open to people who may not know the sandbox's data: its examples are the fixture's.
      const known = controlToken === undefined ? await knownIn(fallback.service.store, shipped) : shipped
      // A page may only try requests to its own origin, so the document has the name of loopback that the page came under.
      const baseUrl = origin.under(request.headers.host)
      const document = openApiDocument({ routes, endpoints, settings, known, baseUrl, only: request.query.only })
      return new ServedFile('application/json; charset=utf-8', JSON.stringify(document)).write(request, reply)
    },
  )
  registerDocs(app, deps.docs, refuse)
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })
}

/** The page holds no secret and so is open, as the description is; what it fetches for its reader is guarded as ever. */
function registerDocs(app: FastifyInstance, docs: URL, refuse: (request: FastifyRequest) => never): void {
  const folder = new PageFolder(docs)
  const HIDDEN = { schema: { hide: true } }
  app.get('/docs', HIDDEN, async (request, reply) => {
    const page = await folder.file(PAGE)
    reply.headers(STRICT)
    if (page) return page.write(request, reply)
    return reply.code(404).header('cache-control', 'no-store').type(HTML).send(NOT_BUILT)
  })
  app.get<{ Params: { file: string } }>('/docs/:file', HIDDEN, async (request, reply) => {
    const { file } = request.params
    if (file === '') return reply.redirect('/docs', 302)
    const found = file === PAGE ? undefined : await folder.file(file)
    if (!found) return refuse(request)
    return found.write(request, reply.headers(STRICT))
  })
}
