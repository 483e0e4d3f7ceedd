import type { IncomingMessage } from 'node:http'
import { Problem } from '../domain/errors.ts'
import { hasTooManyParameters, MAX_PARAMETERS } from '../support/encodings.ts'

/** Longest path and query together, in bytes. */
export const MAX_TARGET = 8 * 1024

/**
 * Headers that may occur only once, by the lengths of their names: names of other lengths need no further look, which saves time on every
 * header of every request. If one is repeated, Node silently uses the first.
 */
const SINGLE = new Map(['Host', 'Content-Type', 'Authorization'].map((name) => [name.length, name]))

/** RFC 3986 §3.2.2: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST = /^(?:\[[\w:.%~-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/**
 * Refuses a request whose head HTTP itself does not allow, or that is excessively long, whatever its path: Node lets these pass. Throws
 * Problem uri_too_long, validation_error or not_implemented.
 */
export function checkHead(request: IncomingMessage): void {
  const { url = '', rawHeaders, headers } = request
  if (url.length > MAX_TARGET) throw targetTooLong()
  refuseRepeated(rawHeaders)
  refuseHost(request)
  const coding = headers['transfer-encoding']
  // RFC 9112 §6.1
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    const detail = 'The only transfer coding that can be read is chunked.'
    throw new Problem('not_implemented', { detail, param: 'Transfer-Encoding' })
  }
  if (hasTooManyParameters(url)) throw malformed('query', `The query has more than ${MAX_PARAMETERS} parameters.`)
}

/** The refusal of a path and query longer than {@link MAX_TARGET}. */
export function targetTooLong(): Problem {
  const detail = `Path and query are longer than ${MAX_TARGET / 1024} KiB together.`
  return new Problem('uri_too_long', { detail, param: 'path' })
}

/** `names` has a value after each name. RFC 9112 §3.2 for Host, RFC 6750 §3.1 for Authorization. */
function refuseRepeated(names: readonly string[]): void {
  let seen = 0 // a bit for each length
  for (let at = 0; at < names.length; at += 2) {
    const name = names[at] ?? ''
    const param = SINGLE.get(name.length)
    if (param === undefined || param.toLowerCase() !== name.toLowerCase()) continue
    const bit = 1 << name.length
    if ((seen & bit) !== 0) throw malformed(param, `${param} was sent more than once.`)
    seen |= bit
  }
}

/** RFC 9112 §3.2: HTTP/1.1 requires a well-formed Host. */
function refuseHost({ headers: { host }, httpVersion }: IncomingMessage): void {
  if (host === undefined && httpVersion === '1.1') throw malformed('Host', 'HTTP/1.1 requires a Host header.')
  if (host === undefined || HOST.test(host)) return
  throw malformed('Host', 'Host must be a name or an address, with a port or without.')
}

function malformed(param: string, detail: string): Problem {
  return new Problem('validation_error', { detail, param })
}
