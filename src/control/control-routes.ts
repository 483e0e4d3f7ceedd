import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { ControlDeps } from './control-parts.ts'
import { guard, refuseForeigners } from './guard.ts'
import { auditRoutes } from './routes/audit.ts'
import { clockRoutes } from './routes/clock.ts'
import { conclusionRoutes } from './routes/conclusion.ts'
import { credentialRoutes } from './routes/credentials.ts'
import { eventRoutes } from './routes/events.ts'
import { faultRoutes } from './routes/faults.ts'
import { fidelityRoutes } from './routes/fidelity.ts'
import { guestRoutes } from './routes/guests.ts'
import { healthRoutes } from './routes/health.ts'
import { jwksCacheRoutes } from './routes/jwks-cache.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { moneyRoutes } from './routes/money.ts'
import { namespaceRoutes } from './routes/namespaces.ts'
import { operationRoutes } from './routes/operations.ts'
import { publicUrlRoutes } from './routes/public-url.ts'
import { reportRoutes } from './routes/report.ts'
import { requestRoutes } from './routes/requests.ts'
import { resetRoutes } from './routes/reset.ts'
import { scenarioRoutes } from './routes/scenarios.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { snapshotRoutes } from './routes/snapshot.ts'
import { stopRoutes } from './routes/stop.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { transactionRoutes } from './routes/transactions.ts'
import { usageRoutes } from './routes/usage.ts'

const ofSandbox = [sessionRoutes, stopRoutes, publicUrlRoutes, guestRoutes, namespaceRoutes, usageRoutes]

const ofEveryNamespace = [
  credentialRoutes,
  fidelityRoutes,
  auditRoutes,
  resetRoutes,
  snapshotRoutes,
  clockRoutes,
  faultRoutes,
  scenarioRoutes,
  requestRoutes,
  operationRoutes,
  eventRoutes,
  tokenRoutes,
  jwksCacheRoutes,
  reportRoutes,
  conclusionRoutes,
  moneyRoutes,
  transactionRoutes,
  mcpRoutes,
]

/** No cache keeps an answer, and no page of another origin embeds one: a browser may send the cookie of a session with both. */
const PRIVATE = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** The control interface under `/_sandbox`: never subject to faults, never recorded. */
export async function controlRoutes(app: FastifyInstance, deps: ControlDeps): Promise<void> {
  app.decorateRequest('control', null)
  app.decorateRequest('limitedTo', null)
  app.register(healthRoutes, deps)
  app.register(async (guarded) => {
    guarded.addHook('onRequest', async (request, reply) => {
      reply.headers(PRIVATE)
      const sandbox = deps.sandboxOf(request)
      if (request.routeOptions.config.open) refuseForeigners(request, sandbox)
      else request.limitedTo = await guard(request, sandbox)
      overlookNeedlessBody(request)
    })
    for (const routes of ofSandbox) await routes(guarded, deps)
    for (const prefix of ['/_sandbox', '/_sandbox/namespaces/:namespace']) {
      guarded.register(async (scope) => ofNamespace(scope, deps), { prefix })
    }
  })
}

/** Registers the routes that every namespace has. */
async function ofNamespace(app: FastifyInstance, deps: ControlDeps): Promise<void> {
  app.addHook('onRequest', async (request) => {
    const { namespace } = request.params as { namespace?: string }
    request.control = await deps.sandboxOf(request).namespace(namespace)
  })
  app.addHook('onRoute', describeAsNamespaced)
  // Not as plugins: each would be a scope of its own, and together they took an eighth of the time that a guest takes.
  for (const routes of ofEveryNamespace) await routes(app, deps)
}

/** A route without a body schema ignores the body: client libraries name a content type, or send `{}`, on every POST and DELETE. */
function overlookNeedlessBody({ routeOptions, headers }: FastifyRequest): void {
  if (routeOptions.schema?.body !== undefined) return
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name]
}

const IN_PATH = '/:namespace/'

const Namespace = Type.String({ description: 'Name of the namespace.', examples: ['pull-request-7'] })

/** A hook for new routes: those below `namespaces/{namespace}/` are described as such. */
function describeAsNamespaced(route: RouteOptions): void {
  const { schema, config } = route
  if (!route.url.includes(IN_PATH) || !schema) return
  const params = schema.params as { properties?: object } | undefined
  route.schema = {
    ...schema,
    operationId: `namespace_${schema.operationId}`,
    summary: `${schema.summary} (of a namespace)`,
    tags: ['Namespaces'],
    params: {
      ...Type.Object({ namespace: Namespace }),
      ...params,
      properties: { namespace: Namespace, ...params?.properties },
    },
  }
  route.config = { ...config, errors: [...(config?.errors ?? []), 'namespace_not_found'] }
}
