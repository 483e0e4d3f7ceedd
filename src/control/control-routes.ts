import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ControlDeps } from './control-parts.ts'
import { guard } from './guard.ts'
import { auditRoutes } from './routes/audit.ts'
import { clockRoutes } from './routes/clock.ts'
import { credentialRoutes } from './routes/credentials.ts'
import { faultRoutes } from './routes/faults.ts'
import { fidelityRoutes } from './routes/fidelity.ts'
import { healthRoutes } from './routes/health.ts'
import { jwksCacheRoutes } from './routes/jwks-cache.ts'
import { resetRoutes } from './routes/reset.ts'
import { scenarioRoutes } from './routes/scenarios.ts'
import { stopRoutes } from './routes/stop.ts'
import { tokenRoutes } from './routes/tokens.ts'

const guardedRoutes = [
  credentialRoutes,
  fidelityRoutes,
  auditRoutes,
  resetRoutes,
  stopRoutes,
  clockRoutes,
  faultRoutes,
  scenarioRoutes,
  tokenRoutes,
  jwksCacheRoutes,
]

/** The control interface under `/_sandbox`: never subject to faults, never recorded. */
export async function controlRoutes(app: FastifyInstance, deps: ControlDeps): Promise<void> {
  app.register(healthRoutes, deps)
  app.register(async (guarded) => {
    guarded.addHook('onRequest', async (request) => {
      guard(request, deps)
      overlookNeedlessBody(request)
    })
    for (const routes of guardedRoutes) guarded.register(routes, deps)
  })
}

/** A route that takes no body reads none: client libraries name a content type, or send `{}`, on every POST and DELETE. */
function overlookNeedlessBody({ routeOptions, headers }: FastifyRequest): void {
  if (routeOptions.schema?.body !== undefined) return
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name]
}
