import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type GuardDeps, refuseForeigners } from '../control/guard.ts'
import { HTML, PAGE, PageFolder, STRICT } from './page-folder.ts'
import { accepts } from './served-file.ts'

const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>The inspector is not built</title>' +
  '<h1>The inspector is not built</h1><p>Run <code>npm run build</code> in the folder of yield-sandbox, and load this page again. ' +
  'The sandbox itself works: <a href="/openapi.json">the description of the API</a> says what it answers.</p></html>\n'

/** Dependencies of {@link registerInspector}. */
export interface InspectorDeps {
  /** The sandbox that a request came to. */
  sandboxOf(request: IncomingMessage): Pick<GuardDeps, 'controlToken' | 'origin'>
  /** Folder of the page's files, made by the build. */
  folder: URL
}

/**
 * Serves the inspector to browsers at `/`, and its files below `/inspector/`. For other clients nothing is served at `/`, and `refuse`
 * answers.
 */
export function registerInspector(
  app: FastifyInstance,
  deps: InspectorDeps,
  refuse: (request: FastifyRequest) => never,
): void {
  const folder = new PageFolder(deps.folder)
  const options = {
    schema: { hide: true },
    onRequest: async (request: FastifyRequest) => refuseForeigners(request, deps.sandboxOf(request.raw)),
  }
  app.get('/', options, async (request, reply) => {
    reply.header('vary', 'Accept, Accept-Encoding')
    if (!accepts(request.headers.accept, 'text/html')) refuse(request)
    const page = await folder.file(PAGE)
    reply.headers(STRICT)
    if (page) return page.write(request, reply)
    return reply.code(404).header('cache-control', 'no-store').type(HTML).send(NOT_BUILT)
  })
  app.get<{ Params: { file: string } }>('/inspector/:file', options, async (request, reply) => {
    const { file } = request.params
    const found = file === PAGE ? undefined : await folder.file(file)
    if (!found) return refuse(request)
    return found.write(request, reply.headers(STRICT))
  })
}

/** Redirects a browser that opens the origin to /docs. For other clients nothing is served there, and `refuse` answers. */
export function registerDocsPage(app: FastifyInstance, refuse: (request: FastifyRequest) => never): void {
  app.get('/', { schema: { hide: true } }, (request, reply) => {
    reply.header('vary', 'Accept')
    if (!accepts(request.headers.accept, 'text/html')) refuse(request)
    return reply.redirect('/docs', 302)
  })
}
