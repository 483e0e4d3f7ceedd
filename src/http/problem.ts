import type { ApiResponse } from '../domain/api-response.ts'
import { ERRORS, type ErrorCode, Problem } from '../domain/errors.ts'
import { ChainUnavailableError, ChainUnsoundError, NoNodeFreeError } from '../domain/ports/chain.ts'
import { NotKeptError, NotOwnerError } from '../domain/ports/journal.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'

/** The request in which an error arose. */
export interface ProblemOrigin {
  request_id: string
  /** The request's path. */
  instance: string
}

/** Longest path that an error body repeats; all served paths are far shorter. */
const MAX_INSTANCE = 1000

/** The only place that writes an error body: RFC 9457, or the code alone. Assumption `error-body`. */
export function renderProblem(problem: Problem, origin: ProblemOrigin, settings: ServiceSettings): ApiResponse {
  const { code, status } = problem
  const { detail, param, errors, headers } = problem.details
  if (settings.error_body === 'code_only') return { status, body: { code }, headers }
  const body = {
    ...linksOf(code, settings),
    title: ERRORS[code].title,
    status,
    detail,
    instance: origin.instance.slice(0, MAX_INSTANCE),
    code,
    request_id: origin.request_id,
    ...(param !== undefined && { param }),
    ...(errors && errors.length > 1 && { errors }),
  }
  return { status, body, headers }
}

/** URI of the error's type, and of its documentation. Behaviour `error-docs`. */
function linksOf(code: ErrorCode, { error_docs }: ServiceSettings): { type: string; doc_url?: string } {
  if (error_docs === 'none') return { type: `urn:yield-partner-api:error:${code}` }
  const url = `${error_docs}/${code}`
  return { type: url, doc_url: url }
}

/** Media type of an error body. */
export function problemType(settings: ServiceSettings): string {
  return settings.error_body === 'problem'
    ? 'application/problem+json; charset=utf-8'
    : 'application/json; charset=utf-8'
}

/** Converts any thrown value to an error of the catalogue; unforeseen ones become internal_error. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof ChainUnavailableError) {
    const why = error instanceof NoNodeFreeError ? `: ${error.reason}.` : '; repeat the request as it is.'
    const detail = `Chain ${error.chainId} cannot be reached${why}`
    return new Problem('chain_unavailable', { detail, headers: { 'retry-after': '2' } }, { cause: error })
  }
  if (error instanceof ChainUnsoundError) {
    const detail = `Chain ${error.chainId} does not work as it should: its contracts or accounts were changed. POST /_sandbox/reset brings them back.`
    return new Problem('chain_unavailable', { detail }, { cause: error })
  }
  if (error instanceof NotOwnerError) {
    const detail = 'This process does not have the state any more. Send the same request again.'
    return new Problem('service_unavailable', { detail, headers: { 'retry-after': '1' } }, { cause: error })
  }
  if (error instanceof NotKeptError) {
    const detail = `Nothing can be kept, so nothing was done: ${error.message}`
    return new Problem('service_unavailable', { detail, headers: { 'retry-after': '5' } }, { cause: error })
  }
  return new Problem('internal_error', { detail: 'The sandbox failed; its log says why.' }, { cause: error })
}
