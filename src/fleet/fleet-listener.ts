import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { NOT_TAKEN, readForwarded, restoreRequest, restoreResponse } from './forwarded-header.ts'

/** Dependencies of {@link acceptForwarded}. */
export interface FleetListenerDeps {
  /** The fleet's secret: without spaces. */
  secret: string
  /**
   * The server of the application that a request is for; undefined if this process is not the owner. A promise while it becomes the owner,
   * which does not reject.
   */
  applicationFor(request: IncomingMessage): Server | undefined | Promise<Server | undefined>
  /** The server of any application here, which answers bytes that are not HTTP; undefined while there is none. */
  application(): Server | undefined
  /** Called with each connection: another process passes on what comes on it. */
  passedOn(socket: Socket): void
  /** Called when that process says that the client of a connection has left. If it ends without a word, the process has ended. */
  clientLeft(socket: Socket): void
}

/**
 * Answers what other processes of the fleet pass on, on a server of its own: the application gets each request as its client sent it, with
 * the client's address. Anything else is refused before its body is read: 403 without the fleet's secret, 421 if this process is not the
 * owner or the request was passed on before.
 *
 * `server`: must take heads somewhat longer than the public one, because of the header that is added.
 */
export function acceptForwarded(server: Server, deps: FleetListenerDeps): void {
  const connections = new Map<string, Socket>()
  const take = (continues: boolean) => async (request: IncomingMessage, response: ServerResponse) => {
    const found = takeForwarded(request, deps)
    const taken = found instanceof Promise ? await found : found
    if ('clientLeft' in taken) {
      const left = connections.get(nameOf(request.socket, taken.clientLeft))
      if (left) deps.clientLeft(left)
      return response.writeHead(204).end()
    }
    if ('refused' in taken) return refuse(response, taken.refused)
    restoreResponse(response, request)
    if (continues) response.writeContinue()
    taken.application.emit('request', request, response)
  }
  server.on('connection', (socket) => {
    endGently(socket)
    const name = nameOf(socket, socket.remotePort)
    connections.set(name, socket)
    socket.once('close', () => connections.delete(name))
    deps.passedOn(socket)
  })
  server.on('request', take(false)).on('checkExpectation', take(false)).on('checkContinue', take(true))
  server.on('upgrade', async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const found = takeForwarded(request, deps)
    const taken = found instanceof Promise ? await found : found
    if ('application' in taken) return taken.application.emit('upgrade', request, socket, head)
    const status = 'refused' in taken ? taken.refused : 421
    socket.on('error', () => socket.destroy())
    socket.end(
      `HTTP/1.1 ${status} ${NOT_TAKEN}\r\n${NOT_TAKEN}: ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
  })
  server.on('clientError', (error: Error, socket: Duplex) => {
    if (!deps.application()?.emit('clientError', error, socket)) socket.destroy()
  })
}

/**
 * Lets a connection whose answer is its last one end when the other process ends it. If it was closed with a part of a body unread, the
 * reset would overtake the answer there.
 */
function endGently(socket: Socket): void {
  socket.destroySoon = () => void socket.end()
}

/** The server that answers a request, which is from then on as its client sent it; or what the request is instead. */
function takeForwarded(
  request: IncomingMessage,
  { secret, applicationFor }: FleetListenerDeps,
): Taken | Promise<Taken> {
  const forwarded = readForwarded(request, secret)
  if (typeof forwarded === 'number') return { refused: forwarded }
  if ('clientLeft' in forwarded) return forwarded
  restoreRequest(request, forwarded)
  const found = applicationFor(request)
  return found instanceof Promise ? found.then(takenBy) : takenBy(found)
}

function takenBy(application: Server | undefined): Taken {
  return application ? { application } : { refused: 421 }
}

type Taken = { application: Server } | { clientLeft: number } | { refused: 403 | 421 }

/** Names a connection by its other end, also when that is shown as the client's later. */
function nameOf({ remoteAddress }: Socket, port: number | undefined): string {
  return `${remoteAddress} ${port}`
}

function refuse(response: ServerResponse, status: 403 | 421): void {
  // The connection stays: if it ended with a part of the body unread, its reset could overtake this answer.
  response.writeHead(status, { [NOT_TAKEN]: String(status), 'content-length': '0' }).end()
}
