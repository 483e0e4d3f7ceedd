import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { jsonExcess } from '../support/json.ts'
import { bodyProblem } from './bad-request.ts'
import { noteBeginningOfBody, noteBody } from './record.ts'

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i
/** UTF-8 and its subset. */
const READABLE = /^(utf-?8|us-ascii)$/i
/** A form's characters are ASCII whatever the client declares; some clients declare this. */
const READABLE_IN_FORM = /^(utf-?8|us-ascii|iso-8859-1)$/i

/** Reads JSON in UTF-8, for scopes without a parser of their own, and refuses coded bodies in all scopes. */
export function readBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const unreadable = hasBody(request) ? unreadableCoding(request) : undefined
    if (unreadable) done(unreadable)
    else done(null, bodyReadAhead(request) ?? payload)
  })
  // With these options Fastify's own parser refuses `__proto__`.
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = Buffer.from(body)
    const text = bytes.toString()
    noteBody(request, text, bytes.length)
    if (!isUtf8(bytes)) return done(bodyProblem('The body is not valid UTF-8.'))
    const excess = jsonExcess(text)
    if (excess !== undefined) return done(bodyProblem(`The body ${excess}.`))
    return parse(request, text, done)
  })
}

function hasBody({ headers }: FastifyRequest): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** RFC 9110 §15.5.16: the answer says which codings could be read instead. */
function unreadableCoding({ headers }: FastifyRequest): Problem | undefined {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    const detail = 'Bodies are read as they are: leave Content-Encoding out.'
    const accepted = { 'accept-encoding': 'identity' }
    return new Problem('unsupported_media_type', { detail, param: 'Content-Encoding', headers: accepted })
  }
  const type = headers['content-type'] ?? ''
  const charset = CHARSET.exec(type)?.[1]
  const readable = type.startsWith('application/x-www-form-urlencoded') ? READABLE_IN_FORM : READABLE
  if (charset === undefined || readable.test(charset)) return undefined
  return new Problem('unsupported_media_type', { detail: 'The charset must be utf-8.', param: 'Content-Type' })
}

/** Most bytes of a body that are read ahead; a longer body is refused anyway. */
const MOST = 100 * 1024

/** Milliseconds of real time: a body that never arrives must not hold up a fault for longer. */
const PATIENCE_MS = 1000

/** The only content type of bodies that the service reads. */
const JSON_TYPE = /^application\/json\b/i

/**
 * Reads the body of a request before the parser's turn, and records the part that has arrived: a fault is about to answer for the service,
 * and two requests without their bodies could not be distinguished. If the request then goes on, {@link bodyReadAhead} supplies the body.
 */
export async function readAhead(request: FastifyRequest, clock: SandboxClock): Promise<void> {
  const { raw, headers } = request
  if (!request.record || !isExpected(raw) || !JSON_TYPE.test(headers['content-type'] ?? '')) return
  const { bytes, whole } = await beginningOf(raw, clock)
  noteBeginningOfBody(request, bytes, whole)
  if (!whole) leaveRest(request, bytes)
  else if (request.exchange) request.exchange.body = bytes
}

/** The stream for a parser: the body that was read ahead, or undefined for the request's own. */
function bodyReadAhead(request: FastifyRequest): Readable | undefined {
  const body = request.exchange?.body
  return body && Readable.from(body.length > 0 ? [body] : [])
}

/**
 * Records the body of a request that is refused before its body is read. Call it when the answer is about to be written: neither the answer
 * nor the connection waits. A body that has come as a whole is taken from the request's buffer. Otherwise, when the answer is out
 * and Node would discard the body, the part that arrives within a second is recorded, and the rest is discarded.
 */
export function keepUnreadBody(request: FastifyRequest, response: ServerResponse): void {
  const { raw, record } = request
  // Somebody reads it already, or has read it.
  if (!record || raw.readableFlowing !== null || record.bodyBytes > 0 || record.bodyCut || !hasBody(request)) return
  // A buffer that is full holds the connection back: reading it now would let the next request in earlier.
  if (raw.destroyed || (raw.complete && raw.readableLength < raw.readableHighWaterMark)) {
    const bytes: Buffer | null = raw.read()
    noteBeginningOfBody(request, bytes ?? Buffer.alloc(0), raw.complete)
    return
  }
  // Before the listener of Node, which discards a body that nobody has begun to read.
  response.prependOnceListener('finish', () => void keepRest(request))
}

async function keepRest(request: FastifyRequest): Promise<void> {
  const { raw, record, namespace } = request
  const begun: Buffer | null = raw.read()
  const { bytes, whole } = await beginningOf(raw, namespace.service.clock, begun ? [begun] : [])
  if (!raw.destroyed) raw.resume()
  if (record && namespace.exchanges.holds(record)) noteBeginningOfBody(request, bytes, whole)
}

function isExpected({ headers, readableEnded, destroyed }: IncomingMessage): boolean {
  const length = headers['content-length']
  const comes = headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  return comes && !readableEnded && !destroyed
}

/**
 * The part that arrives in time, after the `chunks` that were read before; `whole` is true if it is the entire body. Leaves the stream
 * paused.
 */
async function beginningOf(
  raw: IncomingMessage,
  clock: SandboxClock,
  chunks: Buffer[] = [],
): Promise<{ bytes: Buffer; whole: boolean }> {
  let length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const enough = new AbortController()
  const stop = () => enough.abort()
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    if (length <= MOST) return
    raw.pause()
    stop()
  }
  raw.on('data', take).once('end', stop).once('close', stop)
  await clock.wallSleep(PATIENCE_MS, enough.signal)
  raw.pause()
  raw.off('data', take).off('end', stop).off('close', stop)
  return { bytes: Buffer.concat(chunks), whole: raw.readableEnded }
}

/** Puts the bytes back, so that the parser gets the original request. If no parser runs, the next request must not wait behind the rest. */
function leaveRest({ raw, exchange }: FastifyRequest, bytes: Buffer): void {
  if (raw.destroyed) return
  if (bytes.length > 0) raw.unshift(bytes)
  exchange?.over.addEventListener('abort', () => raw.resume(), { once: true })
}
