import { Type } from '@sinclair/typebox'
import { ERRORS, type ErrorCode, Problem } from '../../domain/errors.ts'
import { OPERATIONS } from '../../domain/operations.ts'
import { defineKind } from '../fault-kind.ts'
import { Choice } from '../parameters.ts'
import { FROM_HEADER } from '../strike.ts'

/** Code for a rule that gives a status alone. */
const CODES = {
  429: 'rate_limited',
  500: 'internal_error',
  502: 'bad_gateway',
  503: 'service_unavailable',
  504: 'gateway_timeout',
} as const satisfies Record<number, ErrorCode>

const STATUSES = [429, 500, 502, 503, 504] as const

/** Code for a rule that gives neither code nor status: a failure of the service itself. */
const DEFAULT: ErrorCode = 'internal_error'

const CATALOGUE = Object.keys(ERRORS) as ErrorCode[]

/**
 * The service answers with an error. Before the transaction is broadcast, nothing else happens; after that, the transfer is carried
 * out although its client got an error.
 */
export const error = defineKind({
  kind: 'error',
  scope: 'exchange',
  group: 'answer',
  phases: ['on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response'],
  operations: OPERATIONS,
  with: Type.Object(
    {
      code: Type.Optional(Choice(CATALOGUE, { description: "A code of the service's errors." })),
      status: Type.Optional(
        Type.Union(
          STATUSES.map((status) => Type.Literal(status)),
          { description: 'A status, instead of a code.' },
        ),
      ),
      retry_after: Type.Optional(
        Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('none')], {
          description: 'Seconds in the header Retry-After, 1 with 429 and 503 by default; none leaves it out.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  check: ({ code, status }) =>
    code !== undefined && status !== undefined
      ? { path: ['status'], message: `${status} is given beside code "${code}", which has a status of its own` }
      : undefined,
  explain(parameters, when) {
    const { code, status, details } = problemOf(parameters)
    const later = details.headers['retry-after']
    return `The answer is an error ${when}: ${status} ${code}${later === undefined ? '' : `, Retry-After ${later}`}.`
  },
  strike({ id, exchange, phase, with: parameters }) {
    const asker = id === FROM_HEADER ? 'The header X-Sandbox-Fault' : `The fault ${id}`
    const problem = problemOf(parameters, `${asker} asks for this error; nothing failed.`)
    if (phase === 'on_request' || phase === 'before_broadcast') throw problem
    exchange.answerNow(problem)
  },
})

interface Chosen {
  code?: ErrorCode
  status?: keyof typeof CODES
  retry_after?: number | 'none'
}

function problemOf({ code: given, status, retry_after }: Chosen, detail = ''): Problem {
  const code = given ?? (status === undefined ? DEFAULT : CODES[status])
  const chosen = typeof retry_after === 'number' ? { 'retry-after': String(retry_after) } : {}
  const problem = new Problem(code, { detail, headers: chosen })
  if (retry_after === 'none') delete problem.details.headers['retry-after']
  return problem
}
