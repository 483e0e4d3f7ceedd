import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { describer, PROBLEM } from './describe-route.ts'

/** What the description is made of. */
export interface Described {
  /** Everything that is served. */
  routes: readonly RouteOptions[]
  endpoints: readonly Endpoint[]
  settings: ServiceSettings
}

/**
 * An application that never listens: it has the routes to describe them (`swagger()`), not to answer them, and the pages to
 * browse the description at /docs.
 */
export async function descriptionApp({ routes, endpoints, settings }: Described): Promise<FastifyInstance> {
  const { describe, describeNeighbour } = describer(settings)
  const app = Fastify({ exposeHeadRoutes: false })
  // These routes are described only, so nothing needs compiling.
  app.setValidatorCompiler(() => () => true)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Yield Portfolio Partner API (sandbox)',
        version: '1.0.0',
        description:
          'What the specification leaves open carries `x-assumption` with the id of an assumption; `GET /_sandbox/assumptions` lists them. HEAD is answered wherever GET is.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This sandbox' }],
      tags: [
        { name: 'Partner API', description: 'The service.' },
        { name: 'Identity provider', description: 'Where access tokens come from.' },
        { name: 'Control', description: 'What only the sandbox has.' },
      ],
      components: {
        securitySchemes: {
          idp_token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Identity-provider token.' },
          control_token: { type: 'http', scheme: 'bearer', description: 'Needed only when the sandbox has one.' },
          user_token: {
            type: 'apiKey',
            in: 'header',
            name: 'X-User-Token',
            description: 'RS256 JWT that the partner mints for the end user.',
          },
        },
        schemas: { Problem: PROBLEM },
      },
    },
    transform: ({ schema, url, route }) => {
      const endpoint = endpoints.find((candidate) => candidate.url === url && candidate.method === route.method)
      return { schema: endpoint ? describe(endpoint, schema) : describeNeighbour(url, schema), url }
    },
  })
  await app.register(swaggerUi, { routePrefix: '/docs', uiConfig: { docExpansion: 'list' } })
  // What `/docs/../` leads to must not be answered here: the guards of these routes are elsewhere.
  const handler: RouteOptions['handler'] = (_, reply) => reply.callNotFound()
  for (const { method, url, schema } of routes) {
    if (method !== 'HEAD') app.route({ method, url, handler, ...(schema && { schema }) })
  }
  await app.ready()
  return app
}
