import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Problem } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { refusalOf } from '../traffic/refusal-of.ts'
import { Connection, type Pending } from './connection.ts'
import { problemType, renderProblem, toProblem } from './problem.ts'
import { MAX_TARGET, targetTooLong } from './request-head.ts'

/** An error that Node found, with the bytes in which it found it: a Buffer, whatever Fastify's types say. */
interface ClientError extends NodeJS.ErrnoException {
  rawPacket?: unknown
}

/**
 * Answers input that is not HTTP enough to become a request: headers too long, a broken request line, a body that never arrived. These
 * answers too carry the version, a request id and the parameter at fault.
 */
export function answerClientError(error: ClientError, socket: Socket, ids: Ids, settings: ServiceSettings): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const received = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : ''
  if (received.startsWith(HTTP_2_PREFACE)) {
    socket.end(HTTP_1_1_REQUIRED)
    return
  }
  const problem = problemOf(error.code, received)
  // A request that began but did not complete. If the client ended it, the client has left and there is none to answer.
  const begun = error.code === 'HPE_INVALID_EOF_STATE' ? undefined : Connection.known(socket)?.unanswered
  end(socket, problem, begun?.log.idOf(begun.live) || ids.next('req'), settings, begun)
}

/** Answers CONNECT, which Node does not turn into a request: the sandbox is not a proxy. */
export function answerConnect(socket: Socket, ids: Ids, settings: ServiceSettings): void {
  socket.on('error', () => socket.destroy())
  const problem = new Problem('not_implemented', { detail: 'There are no tunnels here.', param: 'method' })
  end(socket, problem, ids.next('req'), settings)
}

/** Answers a request for a WebSocket that is refused. */
export function refuseSocket(socket: Duplex, error: unknown, ids: Ids, settings: ServiceSettings): void {
  end(socket, toProblem(error), ids.next('req'), settings)
}

function end(socket: Duplex, problem: Problem, request_id: string, settings: ServiceSettings, begun?: Pending): void {
  const { status, body } = renderProblem(problem, { request_id, instance: '/' }, settings)
  const payload = JSON.stringify(body)
  if (begun) {
    const { live, log } = begun
    live.refusal ??= refusalOf(problem)
    log.takeAnswer(live, status, { 'content-type': problemType(settings) }, payload)
    log.end(live, 'answered')
  }
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-${settings.name}-Api-Version: 1.0.0`,
    `X-${settings.name}-Request-Id: ${request_id}`,
    `Content-Type: ${problemType(settings)}`,
    `Content-Length: ${Buffer.byteLength(payload)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${payload}`)
}

function problemOf(code: string | undefined, received: string): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      if (LONG_TARGET.test(received)) return targetTooLong()
      const detail = 'The headers are longer than 16 KiB in all.'
      return new Problem('request_header_fields_too_large', { detail, param: 'headers' })
    }
    case 'HPE_INVALID_METHOD':
      if (REQUEST_LINE.test(received)) {
        return new Problem('not_implemented', { detail: 'The method is unknown.', param: 'method' })
      }
      return notHttp()
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('payload_too_large', { detail: 'The extensions of a chunk are too long.', param: 'body' })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', { detail: 'The request did not arrive in time.', param: 'request' })
    default:
      return notHttp()
  }
}

function notHttp(): Problem {
  return new Problem('validation_error', { detail: 'The request is not valid HTTP.', param: 'request' })
}

/** A request line of any method. */
const REQUEST_LINE = /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r\n/

/** The beginning of a request line that is already too long. */
const LONG_TARGET = new RegExp(`^[A-Z-]+ \\S{${MAX_TARGET}}`)

/** First bytes of a client that speaks HTTP/2 without asking (RFC 9113 §3.4). */
const HTTP_2_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

const WORDS = Buffer.from('This server speaks HTTP/1.1.')

/**
 * The answer to such a client, in HTTP/2 because it can read nothing else: empty SETTINGS, which have to come first, and GOAWAY with the
 * error HTTP_1_1_REQUIRED (RFC 9113 §6.5, §6.8, §7).
 */
export const HTTP_1_1_REQUIRED = Buffer.concat([
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 8 + WORDS.length, 7, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0x0d]),
  WORDS,
])
