import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { jsonExcess } from '../support/json.ts'
import { bodyProblem } from './bad-request.ts'
import { noteBeginningOfBody, noteBody } from './record.ts'

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i
/** UTF-8 and what is part of it. */
const READABLE = /^(utf-?8|us-ascii)$/i
/** A form's characters are ASCII whatever a client calls them; some call them so. */
const READABLE_IN_FORM = /^(utf-?8|us-ascii|iso-8859-1)$/i

/** Reads JSON in UTF-8, for the scopes that set no parser of their own, and refuses coded bodies in all of them. */
export function readBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const unreadable = hasBody(request) ? unreadableCoding(request) : undefined
    if (unreadable) done(unreadable)
    else done(null, bodyReadAhead(request) ?? payload)
  })
  // Fastify's own parser refuses `__proto__`.
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = Buffer.from(body)
    if (!isUtf8(bytes)) return done(bodyProblem('The body is not valid UTF-8.'))
    const text = bytes.toString()
    noteBody(request, text, bytes.length)
    const excess = jsonExcess(text)
    if (excess !== undefined) return done(bodyProblem(`The body ${excess}.`))
    return parse(request, text, done)
  })
}

function hasBody({ headers }: FastifyRequest): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** RFC 9110 §15.5.16: what could be read instead is said in the answer. */
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

/** Most of a body that is read ahead, in bytes: a longer one is refused anyway. */
const MOST = 100 * 1024

/** Milliseconds of real time: a body that never comes must not hold up a fault for longer. */
const PATIENCE_MS = 1000

/** The only bodies that the service reads. */
const JSON_TYPE = /^application\/json\b/i

/**
 * Reads the body of a request before it is the body's turn, and records what has come: a fault is about to answer for the service, and
 * two requests without their bodies cannot be told apart. If the request goes on afterwards, {@link bodyReadAhead} hands the body over.
 */
export async function readAhead(request: FastifyRequest, clock: SandboxClock): Promise<void> {
  const { raw, headers } = request
  if (!request.record || !isExpected(raw) || !JSON_TYPE.test(headers['content-type'] ?? '')) return
  const { bytes, whole } = await beginningOf(raw, clock)
  noteBeginningOfBody(request, bytes, whole)
  if (!whole) leaveRest(request, bytes)
  else if (request.exchange) request.exchange.body = bytes
}

/** The stream that a parser is to read: the body that was read ahead, or else the request's own. */
function bodyReadAhead(request: FastifyRequest): Readable | undefined {
  const body = request.exchange?.body
  return body && Readable.from(body.length > 0 ? [body] : [])
}

function isExpected({ headers, readableEnded, destroyed }: IncomingMessage): boolean {
  const length = headers['content-length']
  const comes = headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  return comes && !readableEnded && !destroyed
}

/** What comes in time, and whether that is all of it. The stream is paused then. */
async function beginningOf(raw: IncomingMessage, clock: SandboxClock): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
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

/** Puts back what was read: the parser gets the request as it came. If no parser does, the next request must not wait behind it. */
function leaveRest({ raw, exchange }: FastifyRequest, bytes: Buffer): void {
  if (raw.destroyed) return
  if (bytes.length > 0) raw.unshift(bytes)
  exchange?.over.addEventListener('abort', () => raw.resume(), { once: true })
}
