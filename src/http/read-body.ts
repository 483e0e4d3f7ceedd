import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'
import { jsonExcess } from '../support/json.ts'
import { bodyProblem } from './bad-request.ts'
import { bodyReadAhead } from './read-ahead.ts'
import { noteBody } from './record.ts'

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
