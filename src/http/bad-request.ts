import type { FastifyError, FastifySchemaValidationError } from 'fastify'
import { invalidParameters, type ParameterFault, Problem } from '../domain/errors.ts'
import { ADDRESS_FORM, wordsFor } from '../domain/text-form.ts'
import { CHECKSUM } from '../partner-api/schemas.ts'
import { shorten } from '../support/shorten.ts'

/** What Fastify refused before a handler saw it, in the catalogue's words; undefined for errors of any other origin. */
export function badRequest(error: FastifyError): Problem | undefined {
  if (error.validation) return validationProblem(error.validation)
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

/** A plugin's own refusal, such as of a path that leads out of what /docs serves. */
function refusedByLibrary({ statusCode = 500, message }: FastifyError): Problem | undefined {
  if (statusCode < 400 || statusCode >= 500) return undefined
  return statusCode === 403 || statusCode === 404
    ? new Problem('not_found', { detail: 'Nothing is served at this path; /docs lists what is.', param: 'path' })
    : new Problem('validation_error', { detail: message, param: 'request' })
}

/** A body that could not be read as JSON. Assumption `body-limits`. */
export function bodyProblem(detail: string): Problem {
  return new Problem('validation_error', { detail, param: 'body' })
}

function validationProblem(found: FastifySchemaValidationError[]): Problem {
  const errors = new Map<string, ParameterFault>()
  // What is no string is not one of the strings allowed either: the first word on a parameter says enough.
  for (const fault of found.map(parameterFault)) if (!errors.has(fault.param)) errors.set(fault.param, fault)
  return invalidParameters([...errors.values()])
}

function parameterFault({ instancePath, keyword, params, message }: FastifySchemaValidationError): ParameterFault {
  const member = params.missingProperty ?? params.additionalProperty
  const path = `${instancePath}${member === undefined ? '' : `/${String(member)}`}`.slice(1)
  const param = shorten(path.replaceAll('/', '.')) || 'body'
  return { param, detail: `${param} ${explain(keyword, params, message)}.` }
}

function explain(keyword: string, params: Record<string, unknown>, message = 'is not valid'): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not known'
    case 'pattern': {
      const words = wordsFor(params.pattern)
      return words === undefined ? message : `must be ${words}`
    }
    case CHECKSUM:
      return `must be ${ADDRESS_FORM.words}`
    case 'enum':
      return `must be one of ${String(params.allowedValues)}`
    default:
      return message.replace('NOT', 'not')
  }
}
