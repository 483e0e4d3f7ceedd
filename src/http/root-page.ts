import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Where a browser that comes to the origin is led. To everybody else nothing is served there, as `refuse` says. */
export function registerRootPage(app: FastifyInstance, refuse: (request: FastifyRequest) => never): void {
  app.get('/', { schema: { hide: true } }, (request, reply) => {
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) refuse(request)
    return reply.header('vary', 'Accept').redirect('/docs', 302)
  })
}
