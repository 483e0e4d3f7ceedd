import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify, { type FastifyInstance } from 'fastify'
import { withoutAjv } from '../validate.ts'

/** An application that never listens: it has the pages for browsing the description, at /docs. */
export async function descriptionPages(): Promise<FastifyInstance> {
  const app = Fastify({ exposeHeadRoutes: false, ...withoutAjv })
  await app.register(swagger, { mode: 'dynamic' })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list' },
    theme: { title: 'Yield Portfolio Partner API' },
  })
  await app.ready()
  return app
}
