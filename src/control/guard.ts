import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import { refuseForeignHost, refuseForeignOrigin } from './foreign-callers.ts'

const BEARER = /^bearer +/i

/**
 * Lets a request use the control interface, or refuses it. Loopback alone does not protect: a foreign Origin is refused, and so is a
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

/** @returns true if it is the control token; in constant time for all tokens of that length */
export function isControlToken(token: string | undefined, controlToken: string): boolean {
  const given = Buffer.from(token ?? '')
  const wanted = Buffer.from(controlToken)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
