import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import { refuseForeignHost, refuseForeignOrigin } from './foreign-callers.ts'

const BEARER = /^bearer +/i

/**
 * Whether a request may use the control interface. Loopback is not protection enough: a foreign Origin is refused, and a
 * foreign Host unless a token proves the caller. Throws Problem control_forbidden or control_token_required.
 */
export function guard(
  request: FastifyRequest,
  { controlToken, origin }: { controlToken: string | undefined; origin: Origin },
): void {
  refuseForeignOrigin(request, origin)
  if (controlToken === undefined) {
    refuseForeignHost(request)
    return
  }
  const { authorization } = request.headers
  if (isControlToken(authorization?.replace(BEARER, ''), controlToken)) return
  const detail = 'Send Authorization: Bearer with the control token printed at start.'
  const headers = { 'www-authenticate': challengeOf('control_token_required', BEARER.test(authorization ?? '')) }
  throw new Problem('control_token_required', { detail, param: 'Authorization', headers })
}

/** Whether the token given is the control token. Takes as long for any other of its length. */
export function isControlToken(token: string | undefined, controlToken: string): boolean {
  const given = Buffer.from(token ?? '')
  const wanted = Buffer.from(controlToken)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
