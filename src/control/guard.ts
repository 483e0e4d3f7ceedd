import type { FastifyRequest } from 'fastify'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import { sameSecret } from '../support/same-secret.ts'
import { refuseForeignHost, refuseForeignOrigin } from './foreign-callers.ts'
import type { Sessions } from './sessions.ts'

const BEARER = /^bearer +/i

/** What {@link guard} knows of those who may come in. */
export interface GuardDeps {
  controlToken: string | undefined
  origin: Origin
  sessions: Sessions
  /** Name of the namespace that has this text for its own control token; undefined if none has. */
  namespaceOfToken(token: string): string | undefined | Promise<string | undefined>
}

/**
 * Lets a request use the control interface, or refuses it. Loopback alone does not protect: a foreign Origin is refused, and so is a
 * foreign Host unless a token or a session proves the caller. The sandbox's token opens everything, that of a namespace its own routes:
 * its name is then returned. Throws Problem control_forbidden or control_token_required.
 */
export async function guard(request: FastifyRequest, deps: GuardDeps): Promise<string | null> {
  const { controlToken, sessions } = deps
  refuseForeigners(request, deps)
  if (controlToken === undefined) return null
  const { authorization } = request.headers
  const token = authorization === undefined ? sessions.tokenOf(request) : authorization.replace(BEARER, '')
  if (isControlToken(token, controlToken)) return null
  const own = token === undefined ? undefined : await deps.namespaceOfToken(token)
  if (own === undefined) {
    const detail =
      'Send Authorization: Bearer with the control token printed at start, or below /_sandbox/namespaces/{name}/ with that of the namespace.'
    throw refusal(detail, 'Authorization', BEARER.test(authorization ?? ''))
  }
  const { namespace } = request.params as { namespace?: string }
  if (namespace === own) return own
  throw beyond(own)
}

/** Problem control_forbidden for a caller with the control token of a namespace that asks for anything else. */
function beyond(own: string): Problem {
  const detail = `This is the control token of the namespace "${own}": it opens /_sandbox/namespaces/${own} and what is below, and nothing else. Ask there, or send the control token of the sandbox.`
  return new Problem('control_forbidden', { detail, param: 'Authorization' })
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

/** @returns true if it is the control token; in constant time */
export function isControlToken(token: string | undefined, controlToken: string): boolean {
  return token !== undefined && sameSecret(token, controlToken)
}
