import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import { refuseForeignHost, refuseForeignOrigin } from './foreign-callers.ts'
import type { Sessions } from './sessions.ts'

const BEARER = /^bearer +/i

/** What {@link guard} knows of those who may come in. */
export interface GuardDeps {
  controlToken: string | undefined
  origin: Origin
  sessions: Sessions
}

/**
 * Lets a request use the control interface, or refuses it. Loopback alone does not protect: a foreign Origin is refused, and so is a
 * foreign Host unless a token or a session proves the caller. Throws Problem control_forbidden or control_token_required.
 */
export function guard(request: FastifyRequest, { controlToken, origin, sessions }: GuardDeps): void {
  refuseForeigners(request, { controlToken, origin })
  if (controlToken === undefined) return
  const { authorization } = request.headers
  if (authorization === undefined && sessions.admit(request)) return
  if (isControlToken(authorization?.replace(BEARER, ''), controlToken)) return
  const detail = 'Send Authorization: Bearer with the control token printed at start.'
  throw refusal(detail, 'Authorization', BEARER.test(authorization ?? ''))
}

/**
 * Refuses the pages of others: a foreign Origin, and, where nobody needs a token, a foreign Host, which a page's own name may resolve to
 * (DNS rebinding). Throws Problem control_forbidden.
 */
export function refuseForeigners(
  request: FastifyRequest,
  { controlToken, origin }: Pick<GuardDeps, 'controlToken' | 'origin'>,
): void {
  refuseForeignOrigin(request, origin)
  if (controlToken === undefined) refuseForeignHost(request)
}

/** Problem control_token_required; `given` is true if the request carried a credential. */
export function refusal(detail: string, param: string, given: boolean): Problem {
  const headers = { 'www-authenticate': challengeOf('control_token_required', given) }
  return new Problem('control_token_required', { detail, param, headers })
}

/** @returns true if it is the control token; in constant time for all tokens of that length */
export function isControlToken(token: string | undefined, controlToken: string): boolean {
  const given = Buffer.from(token ?? '')
  const wanted = Buffer.from(controlToken)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
