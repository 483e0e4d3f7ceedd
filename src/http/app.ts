import Fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify'
import { endpoints } from '../partner-api/endpoints.ts'
import { badRequest } from './bad-request.ts'
import { answerClientError } from './client-error.ts'
import { Entrance, type EntranceDeps } from './entrance.ts'
import { prepareServer, REQUEST_TIMEOUT_MS, SERVER } from './front-server.ts'
import { guardShared } from './guard-shared.ts'
import { writeError } from './handle.ts'
import { registerDocsPage, registerInspector } from './inspector-pages.ts'
import { registerOpenApi } from './openapi.ts'
import { partnerApi } from './partner-api.ts'
import type { PipelineDeps } from './pipeline.ts'
import { readBodies } from './read-body.ts'
import { checkHead } from './request-head.ts'
import { logRequests, logWhenOver } from './request-log.ts'
import { parseQuery, unknownRoute } from './routing.ts'
import { compileSchema, withoutAjv } from './validate.ts'

/** Longest request body, in bytes. Assumption `body-limits`. */
const BODY_LIMIT = 100 * 1024

/** Dependencies of {@link createApp}. */
export interface AppDeps extends EntranceDeps {
  /** Makes ids of answers to input that is not HTTP enough to become a request. */
  fallback: PipelineDeps
  /** Folder of the inspector's page; undefined if it is switched off. */
  inspector: URL | undefined
  /** Folder of the page at /docs. */
  docs: URL
  /** True if the state is in a database, where other processes may take it over. */
  shared: boolean
  /** PEM texts, to serve https; undefined for http. */
  tls: { cert: string; key: string } | undefined
  neighbours: Neighbours
}

/** Registers the routes on the same origin beside the service: identity provider, control. */
export type Neighbours = (app: FastifyInstance, entrance: Entrance) => Promise<void>

/** The HTTP interface, not yet listening. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { settings, log, fallback, sandboxOf } = deps
  const { ids, service } = fallback
  const all = endpoints(settings)
  const entrance = new Entrance(deps)
  const app: FastifyInstance = Fastify({
    // The logger is set on each request: if Fastify got one here, it would make a child per request and listen to every response.
    logger: false,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: () => '', // it gets one when its namespace is known
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    // A body that never arrives gets an answer too.
    requestTimeout: REQUEST_TIMEOUT_MS,
    ...(deps.tls ? { https: { ...SERVER, cert: deps.tls.cert, key: deps.tls.key } } : { http: SERVER }),
    // An external_id of any length must reach its validation instead of an unknown route.
    routerOptions: { maxParamLength: 16 * 1024, querystringParser: parseQuery },
    // RFC 9110 §9.1: a path that answers GET answers HEAD.
    exposeHeadRoutes: true,
    ...withoutAjv,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, ids, settings),
    frameworkErrors: (error, request, reply) => {
      request.log = log
      reply.log = log
      entrance.enter(request, reply, sandboxOf(request.raw).fallback, null)
      logWhenOver(request, reply, service)
      writeError(badRequest(error) ?? error, request, reply, settings)
    },
  })
  app.log = log
  prepareServer(app.server, deps.tls !== undefined, { ids, settings })
  // Unknown expectations may be ignored (RFC 9110, Expect); Node would refuse them as it would a missing Host.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  app.decorateRequest('exchange', null)
  app.decorateRequest('record', null)
  app.decorateRequest('arrived', undefined)
  app.decorateRequest('seenToken', undefined)
  logRequests(app, service)
  const refuse = unknownRoute(all)
  // With a callback: a promise per hook and request costs noticeable time at tens of thousands of requests a second.
  app.addHook('onRequest', (request, reply, done) => {
    // Not at once: the parser may still find that the body cannot be read, and one request gets one answer.
    const fail = (error: unknown) => queueMicrotask(() => done(error as Error))
    const goOn = () => {
      try {
        checkHead(request.raw)
        // Before the body is read: the path or the method is wrong, whatever the body.
        if (request.is404) refuse(request)
      } catch (error) {
        return fail(error)
      }
      done()
    }
    const opening = entrance.open(request, reply)
    if (opening) opening.then(goOn, fail)
    else goOn()
  })
  if (deps.shared) guardShared(app)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    writeError(badRequest(error) ?? error, request, reply, settings)
  })
  app.setNotFoundHandler(refuse)
  app.setValidatorCompiler(compileSchema)
  // Answers are written unchanged: their schemas are for the description, and a serializer made from them would drop other members.
  app.setSerializerCompiler(() => JSON.stringify)
  readBodies(app)
  if (deps.inspector) registerInspector(app, { sandboxOf, folder: deps.inspector }, refuse)
  else registerDocsPage(app, refuse)
  registerOpenApi(app, all, deps, refuse)
  await app.register(partnerApi(all, settings, deps.shared))
  await deps.neighbours(app, entrance)
  return app
}
