import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { problemType, renderProblem } from './problem.ts'

/**
 * Answers what is not HTTP enough to become a request: headers too long, a broken request line, a body that never came.
 * These too carry the version, a request id and the parameter at fault.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  ids: Ids,
  settings: ServiceSettings,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const request_id = ids.next('req')
  const { body } = renderProblem(problemOf(error), { request_id, instance: '/' }, settings)
  const payload = JSON.stringify(body)
  const head = [
    `HTTP/1.1 400 ${STATUS_CODES[400]}`,
    `X-${settings.name}-Api-Version: 1.0.0`,
    `X-${settings.name}-Request-Id: ${request_id}`,
    `Content-Type: ${problemType(settings)}`,
    `Content-Length: ${Buffer.byteLength(payload)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${payload}`)
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Problem('validation_error', { detail: 'The headers are longer than 16 KiB in all.', param: 'headers' })
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('validation_error', { detail: 'The request did not arrive in time.', param: 'body' })
  }
  return new Problem('validation_error', { detail: 'The request is not valid HTTP.', param: 'request' })
}
