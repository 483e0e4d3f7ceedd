import type {} from '@fastify/swagger'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Origin } from '../domain/origin.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'

const HIDDEN = { schema: { hide: true } }

/** A page that is shown inside of another one can be made to take clicks meant for that. */
const UNFRAMED = { 'content-security-policy': "frame-ancestors 'none'", 'x-frame-options': 'DENY' }

/**
 * Serves the interface's description, made from the schemas that validate, at /openapi.json and to browse at /docs. Of the
 * routes registered after it; made when first asked for, since most runs never are and loading what makes it takes long.
 */
export function registerOpenApi(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  { settings, origin }: { settings: ServiceSettings; origin(): Origin },
): void {
  const routes: RouteOptions[] = []
  let made: Promise<FastifyInstance> | undefined
  const description = () => {
    made ??= import('./description-app.ts').then((module) => module.descriptionApp({ routes, endpoints, settings }))
    return made
  }
  app.get('/openapi.json', HIDDEN, async ({ headers }) => ({
    ...(await description()).swagger(),
    // A page may only try what has its own origin: it is told the name of loopback that it came under.
    servers: [{ url: origin().under(headers.host), description: 'This sandbox' }],
  }))
  const browse = async (request: FastifyRequest, reply: FastifyReply) => {
    const { url, headers } = request
    const answer = await (await description()).inject({ url, headers })
    if (answer.statusCode >= 400) return reply.callNotFound()
    const { connection: _, ...fields } = answer.headers
    return reply
      .code(answer.statusCode)
      .headers({ ...fields, ...UNFRAMED })
      .send(answer.rawPayload)
  }
  for (const url of ['/docs', '/docs/*']) app.get(url, HIDDEN, browse)
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })
}
