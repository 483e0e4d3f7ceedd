import type { TSchema } from '@sinclair/typebox'
import type { FastifyError, FastifySchemaValidationError } from 'fastify'
import { invalidParameters, type ParameterFault, Problem, parameterFault } from '../domain/errors.ts'
import { wordsFor } from '../domain/text-form.ts'
import { AMOUNT_TO_MOVE } from '../partner-api/schemas.ts'
import type { Issue } from '../support/issue.ts'
import { mismatch, missing, unknownField } from '../support/issue-words.ts'
import { steps } from '../support/schema-issues.ts'

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

/** An error of Ajv in its verbose form, which is what it is asked for. */
type Misfit = FastifySchemaValidationError & { parentSchema?: TSchema; data?: unknown }

function validationProblem(found: readonly Misfit[]): Problem {
  const errors = new Map<string, ParameterFault>()
  // What is no string is not one of the strings allowed either: the first word on a parameter says enough.
  for (const fault of found.map((misfit) => parameterFault(issueOf(misfit)))) {
    if (!errors.has(fault.param)) errors.set(fault.param, fault)
  }
  return invalidParameters([...errors.values()])
}

function issueOf({ instancePath, keyword, params, parentSchema = {} as TSchema, data }: Misfit): Issue {
  const path = steps(undefined, instancePath)
  const member = String(params.missingProperty ?? params.additionalProperty)
  if (keyword === 'required') {
    return { path: [...path, member], ...missing(member, inWords(parentSchema.properties?.[member] ?? {})) }
  }
  if (keyword === 'additionalProperties') return { path: [...path, member], ...unknownField(member, parentSchema) }
  if (keyword === AMOUNT_TO_MOVE) return { path, ...mismatch({ ...parentSchema, title: parentSchema[keyword] }, data) }
  const { pattern, ...rest } = parentSchema
  // Of the right form, but too long or too short.
  const schema = keyword === 'minLength' || keyword === 'maxLength' ? (rest as TSchema) : inWords(parentSchema)
  return { path, ...mismatch(schema, data) }
}

/** The schema with the words for its form. */
function inWords(schema: TSchema): TSchema {
  const title = wordsFor(schema.pattern)
  return title === undefined ? schema : { ...schema, title }
}
