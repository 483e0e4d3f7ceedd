import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { describer, PROBLEM } from './describe-route.ts'

/** Serves the interface's description, made from the schemas that validate, at /openapi.json and to browse at /docs. */
export async function registerOpenApi(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  { settings, baseUrl }: { settings: ServiceSettings; baseUrl(): string },
): Promise<void> {
  const { describe, describeNeighbour } = describer(settings)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Yield Portfolio Partner API (sandbox)',
        version: '1.0.0',
        description:
          'What the specification leaves open carries `x-assumption` with the id of an assumption; `GET /_sandbox/assumptions` lists them.',
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
  app.get('/openapi.json', { schema: { hide: true } }, () => ({
    ...app.swagger(),
    servers: [{ url: baseUrl(), description: 'This sandbox' }],
  }))
}
