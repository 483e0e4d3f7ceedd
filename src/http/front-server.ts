import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { Problem } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { answerClientError, answerConnect } from './client-error.ts'
import { Connection, noteCarriers } from './connection.ts'
import { problemType, renderProblem } from './problem.ts'
import { UpgradableMessage } from './upgradable-message.ts'

/** Milliseconds within which a request has to arrive, headers and body. */
export const REQUEST_TIMEOUT_MS = 60_000

/** Milliseconds for which a connection stays open between requests: Fastify's own value, which answers repeat in `Keep-Alive`. */
const KEEP_ALIVE_MS = 72_000

/** Node would refuse a request without Host itself, and its answer would lack version and request id. */
export const SERVER = { requireHostHeader: false, IncomingMessage: UpgradableMessage }

/** Bytes of a head that another process passes on: Node's own limit, and what the process adds. */
const FORWARDED_HEAD = 20 * 1024

const TIMES = { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }

/** Makes ids and names headers of answers that no namespace gives. */
export interface FrontVoice {
  ids: Ids
  settings: ServiceSettings
}

/** A server that treats connections as the application's own does, but leads requests elsewhere: it has no listener for them. */
export function createFrontServer(tls: { cert: string; key: string } | undefined, voice: FrontVoice): HttpServer {
  const options = { ...SERVER, ...TIMES }
  const server = tls ? createTlsServer({ ...options, cert: tls.cert, key: tls.key }) : createServer(options)
  prepareServer(server, tls !== undefined, voice)
  return server
}

/** A server at another address of an application, which gets each request that comes there once it is marked by `lead`. */
export function createSideServer(
  application: HttpServer,
  lead: (request: IncomingMessage) => void,
  voice: FrontVoice,
): HttpServer {
  const server = createFrontServer(undefined, voice)
  for (const event of ['request', 'checkExpectation', 'upgrade']) {
    server.on(event, (request: IncomingMessage, ...rest: unknown[]) => {
      lead(request)
      application.emit(event, request, ...rest)
    })
  }
  server.on('clientError', (error, socket: Socket) => answerClientError(error, socket, voice.ids, voice.settings))
  return server
}

/** A server for requests that other processes of the fleet pass on. */
export function createFleetServer(): HttpServer {
  const server = createServer({ ...SERVER, ...TIMES, maxHeaderSize: FORWARDED_HEAD })
  server.maxHeadersCount = 0
  return server
}

/** Lets a server tell connections apart and answer what is no request. */
export function prepareServer(server: HttpServer, isTls: boolean, { ids, settings }: FrontVoice): void {
  // Node would drop the headers beyond 2,000 silently; their total length is limited anyway.
  server.maxHeadersCount = 0
  if (isTls) noteCarriers(server)
  // Before Node uses the socket: a property that is added later changes the socket's shape, and Node's code has two to deal with.
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => Connection.of(socket))
  server.on('connect', (_request, socket: Socket) => answerConnect(socket, ids, settings))
}

/** The refusal of a request while no process owns what it is for. */
export function ownerAway(): Problem {
  const detail = 'The process that owns this state is being replaced; nothing was done: repeat the request as it is.'
  return new Problem('service_unavailable', { detail, headers: { 'retry-after': '1' } })
}

/** Answers a request with {@link ownerAway}. */
export function answerOwnerAway(
  request: IncomingMessage,
  response: ServerResponse,
  { ids, settings }: FrontVoice,
): void {
  const request_id = ids.next('req')
  const instance = (request.url ?? '').split('?', 1)[0] ?? ''
  const { status, body, headers } = renderProblem(ownerAway(), { request_id, instance }, settings)
  const payload = JSON.stringify(body)
  response.writeHead(status, {
    [`x-${settings.name}-api-version`.toLowerCase()]: '1.0.0',
    [`x-${settings.name}-request-id`.toLowerCase()]: request_id,
    ...headers,
    'content-type': problemType(settings),
    'content-length': Buffer.byteLength(payload),
  })
  response.end(payload)
}
