import { ERRORS } from '../../src/domain/errors.ts'
import type { Silence, WireAnswer } from './connection.ts'
import type { Face, FuzzRequest } from './fuzz-request.ts'
import type { OpenApi } from './open-api.ts'
import { rpcObjection } from './rpc-objection.ts'
import type { Weather } from './weather.ts'

/** What can be wrong with an answer. */
export const KINDS = ['5xx', 'hang', 'malformed', 'dropped', 'crash', 'log', 'damage'] as const
export type FindingKind = (typeof KINDS)[number]

export interface Verdict {
  kind: FindingKind
  /** In a few words, the same for all findings that are probably one. */
  reason: string
}

/** An exchange, to be judged. */
export interface Exchange {
  face: Face
  request: FuzzRequest
  result: WireAnswer | Silence
  weather: Weather
}

const REQUEST_ID = /^req_[0-9A-HJKMNP-TV-Z]{26}$/
/** The chain, and whoever needs it, may be away while it is reset, replaced or silenced. */
const AWAY: ReadonlySet<unknown> = new Set(['chain_unavailable', 'sandbox_starting', 'temporarily_unavailable'])
/** Its id, by which whoever waits for it names it. */
const SOUTH = '31338'
/** What concerns every chain. Asked by HEAD, an answer does not say which of them is away. */
const OF_ALL_CHAINS = /^\/_sandbox\/(?:audit|ready)(?:\?|$)/
/** What the sandbox says when it failed itself, and no fault says. */
const FAILED = /its log says why|the sandbox failed$/

/** What is wrong with an exchange; undefined if nothing is. */
export function judge(exchange: Exchange, openApi: OpenApi): Verdict | 'excused' | undefined {
  const { request, result } = exchange
  if (typeof result === 'string') {
    if (request.mayBeSilent && result !== 'garbled') return undefined
    if (request.struck) return undefined
    return { kind: result === 'timeout' ? 'hang' : result === 'closed' ? 'dropped' : 'malformed', reason: result }
  }
  const body = parsed(result)
  const failure = failureOf(exchange, result, body)
  if (failure !== undefined) return failure
  if (request.struck) return undefined
  const objection = identification(result) ?? bodyObjection(exchange, result, body, openApi)
  return objection === undefined ? undefined : { kind: 'malformed', reason: objection }
}

/** A status of 5xx, unless the weather excuses it. */
function failureOf(
  { request, weather }: Exchange,
  { status }: WireAnswer,
  body: unknown,
): Verdict | 'excused' | undefined {
  if (status < 500 || status === 501 || status === 505) return undefined
  const { code, error, error_description, detail, ready, reason } = Object(body) as Record<string, unknown>
  const words = String(detail ?? error_description ?? '')
  const verdict = {
    kind: '5xx' as const,
    reason: `${status} ${code ?? error ?? ''} ${words.replace(/\d+/g, 'n').slice(0, 90)}`,
  }
  if (FAILED.test(words.trim())) return verdict
  if (request.struck) return undefined
  // The second chain is away whenever somebody made it so; the first one in stormy weather only.
  const wordless = request.method === 'HEAD'
  const named = wordless ? OF_ALL_CHAINS.test(request.path) : `${words} ${reason}`.includes(SOUTH)
  const mayBeAway = weather === 'stormy' || request.chain === SOUTH || named
  const said = AWAY.has(code ?? error) || ready === false || wordless
  return status === 503 && mayBeAway && said ? 'excused' : verdict
}

/** spec: Versioning 2 */
function identification({ headers }: WireAnswer): string | undefined {
  if (headers.get('x-service-api-version') !== '1.0.0') return 'the version header is missing'
  return REQUEST_ID.test(headers.get('x-service-request-id') ?? '') ? undefined : 'the request-id header is missing'
}

function bodyObjection(
  { face, request }: Exchange,
  answer: WireAnswer,
  body: unknown,
  openApi: OpenApi,
): string | undefined {
  const { status, headers } = answer
  const type = headers.get('content-type') ?? ''
  const path = request.path.split('?', 1)[0] ?? ''
  if (request.method === 'HEAD' || status === 204 || status === 304) return undefined
  if (status < 400 && path.startsWith('/docs')) return undefined
  if (body === undefined) return `the body of ${status} is not JSON`
  if (face === 'rpc' && status === 200) return rpcObjection(body, request.rpcIds)
  const isTokens = /oauth2\/(v2\.0\/)?token$/.test(path)
  if (status >= 400 && !isTokens && 'ready' in Object(body) === false) {
    const objection = problemObjection(answer, body, type)
    if (objection !== undefined) return objection
  }
  return openApi.objection(request.method, path, { status, type, body })
}

function problemObjection({ status, headers }: WireAnswer, body: unknown, type: string): string | undefined {
  const problem = Object(body) as Record<string, unknown>
  if (!Object.hasOwn(ERRORS, String(problem.code))) return `${status} without a code of the catalogue`
  if (problem.status !== status) return `the problem says ${problem.status}, the answer ${status}`
  if (problem.request_id !== headers.get('x-service-request-id')) return 'the problem has another request id'
  if (typeof problem.detail !== 'string' || !/\w+ \w+/.test(problem.detail)) return 'the problem has no detail'
  return type.startsWith('application/problem+json') ? undefined : `a problem of type ${type}`
}

function parsed({ body }: WireAnswer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
