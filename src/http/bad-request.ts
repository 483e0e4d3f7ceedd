import type { FastifyError } from 'fastify'
import { Problem } from '../domain/errors.ts'

/** Converts a refusal by Fastify, before any handler, to an error of the catalogue; undefined for errors of any other origin. */
export function badRequest(error: FastifyError | Problem): Problem | undefined {
  if (error instanceof Problem) return undefined // it is already an error of the catalogue
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('unsupported_media_type', {
        detail: 'Content-Type must be application/json.',
        param: 'Content-Type',
      })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('payload_too_large', { detail: 'The body must be at most 100 KiB.', param: 'body' })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return bodyProblem('The body is empty; a JSON object is expected.')
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return bodyProblem('The body is not valid JSON.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return bodyProblem('The body is not as long as Content-Length says.')
    case 'FST_ERR_BAD_URL':
      return new Problem('validation_error', { detail: 'The path is not valid percent-encoding.', param: 'path' })
    default:
      return refusedByLibrary(error)
  }
}

/** A refusal by the framework of which nothing more is known here. */
function refusedByLibrary({ statusCode = 500, message }: FastifyError): Problem | undefined {
  if (statusCode < 400 || statusCode >= 500) return undefined
  return new Problem('validation_error', { detail: message, param: 'request' })
}

/** A body that could not be read as JSON. Assumption `body-limits`. */
export function bodyProblem(detail: string): Problem {
  return new Problem('validation_error', { detail, param: 'body' })
}
