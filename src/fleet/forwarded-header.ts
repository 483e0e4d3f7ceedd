import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sameSecret } from '../support/same-secret.ts'

/** First header of every request that one process of a fleet passes on to another. Elsewhere it has no meaning. */
const FORWARDED = 'X-Sandbox-Forwarded'

/** Header of an answer that is for the forwarding process, not for the client: the request was not taken. */
export const NOT_TAKEN = 'x-sandbox-not-taken'

/** Passed on once: a request never goes from process to process. */
const HOP = '1'

/** In its place: no request, but the word that the client of a connection has left. */
const CLIENT_LEFT = 'client-left'

/** The facts about a request that its bytes on the second connection no longer show. */
export interface ForwardedRequest {
  secret: string
  hop: string
  /** Number of header lines that the client sent: Node adds some on the way, behind them. */
  lines: number
  /** Version of HTTP that the client speaks: `1.0` or `1.1`. */
  version: string
  /** True if the client came by https. */
  encrypted: boolean
  /** The client's address and port; empty and 0 if its connection had ended by then. */
  address: string
  port: number
}

/** The header and its value for a request that is passed on; `lines`: number of the client's header lines that follow. */
export function forwardedHeader({ httpVersion, socket }: IncomingMessage, lines: number, secret: string): string[] {
  const { remoteAddress = '', remotePort = 0 } = socket
  const scheme = 'encrypted' in socket ? 'https' : 'http'
  return [FORWARDED, [secret, HOP, lines, httpVersion, scheme, remotePort, remoteAddress].join(' ')]
}

/** The same for a request that a process makes by itself. */
export function headerBetweenProcesses(lines: number, secret: string): string[] {
  return [FORWARDED, [secret, HOP, lines, '1.1', 'http', 0, ''].join(' ')]
}

/** The header of the word that the client of a connection between two processes has left; `port`: of that connection, on this side. */
export function clientLeftHeader(port: number, secret: string): string[] {
  return [FORWARDED, [secret, CLIENT_LEFT, 0, '1.1', 'http', port, ''].join(' ')]
}

const passedOn = new WeakSet<object>()

/** @returns true if another process of the fleet has passed the request on: this one answers for what it has itself, and passes nothing on */
export function isForwarded(request: object): boolean {
  return passedOn.has(request)
}

/** The facts that come with a request; undefined unless its first header has them. */
function forwardedRequest({ rawHeaders: [name = '', value = ''] }: IncomingMessage): ForwardedRequest | undefined {
  if (name !== FORWARDED) return undefined
  const [secret = '', hop = '', lines, version = '', scheme, port, address = ''] = value.split(' ')
  return { secret, hop, lines: Number(lines), version, encrypted: scheme === 'https', address, port: Number(port) }
}

/**
 * Reads the facts about a request, or the port of the connection whose client has left.
 *
 * @returns 403 if it does not come from a process of the fleet, 421 if it was passed on before
 */
export function readForwarded(
  request: IncomingMessage,
  secret: string,
): ForwardedRequest | { clientLeft: number } | 403 | 421 {
  const forwarded = forwardedRequest(request)
  if (!forwarded || !sameSecret(forwarded.secret, secret)) return 403
  if (forwarded.hop === CLIENT_LEFT) return { clientLeft: forwarded.port }
  return forwarded.hop === HOP && forwarded.lines * 2 < request.rawHeaders.length ? forwarded : 421
}

/** Makes a request that was passed on the one that its client sent: its headers, its version, its connection's address. */
export function restoreRequest(
  request: IncomingMessage,
  { lines, version, encrypted, address, port }: ForwardedRequest,
): void {
  const { rawHeaders, headers, socket } = request
  passedOn.add(request)
  const end = 2 + 2 * lines
  // What Node added occurs nowhere among the client's: otherwise it would not have added it.
  for (let at = end; at < rawHeaders.length; at += 2) delete headers[(rawHeaders[at] ?? '').toLowerCase()]
  delete headers[FORWARDED.toLowerCase()]
  request.rawHeaders = rawHeaders.slice(2, end)
  // A client's own header of that name is a header as any other.
  const own = valuesOf(request.rawHeaders, FORWARDED)
  if (own.length > 0) headers[FORWARDED.toLowerCase()] = own.join(', ')
  request.httpVersion = version
  request.httpVersionMinor = Number(version.slice(2))
  restoreConnection(socket, { encrypted, address, port })
}

/** Node has chosen the form of the answer by the version of the second connection, which is always 1.1. */
export function restoreResponse(response: ServerResponse, { headers, httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.0') return
  response.useChunkedEncodingByDefault = false
  response.shouldKeepAlive = /(?:^|\W)keep-alive(?:$|\W)/i.test(headers.connection ?? '')
}

function restoreConnection(
  socket: Socket,
  { encrypted, address, port }: Pick<ForwardedRequest, 'encrypted' | 'address' | 'port'>,
): void {
  if (Object.hasOwn(socket, 'remoteAddress')) return
  const family = address.includes(':') ? 'IPv6' : 'IPv4'
  const facts = { remoteAddress: address, remotePort: port, remoteFamily: family, ...(encrypted && { encrypted }) }
  for (const [name, value] of Object.entries(facts)) Object.defineProperty(socket, name, { value })
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name.toLowerCase()) values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}
