import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/**
 * Whether a request may use the control interface. Loopback is not protection enough: any web page can reach it, so a
 * foreign Origin is refused, and a foreign Host (DNS rebinding) unless a token proves the caller.
 * Throws Problem control_forbidden or control_token_required.
 */
export function guard(request: FastifyRequest, controlToken: string | undefined): void {
  const { origin, host, authorization } = request.headers
  if (origin !== undefined && origin !== `http://${host ?? ''}`) {
    throw new Problem('control_forbidden', { detail: 'Web pages of another origin may not use it.', param: 'Origin' })
  }
  if (controlToken !== undefined) {
    if (isBearer(authorization, controlToken)) return
    const detail = 'Send Authorization: Bearer with the control token printed at start.'
    throw new Problem('control_token_required', { detail, param: 'Authorization' })
  }
  if (!LOOPBACK.test(host ?? '')) {
    throw new Problem('control_forbidden', { detail: 'Host must be a loopback address.', param: 'Host' })
  }
}

function isBearer(authorization: string | undefined, expected: string): boolean {
  const given = Buffer.from(authorization?.replace(/^bearer +/i, '') ?? '')
  const wanted = Buffer.from(expected)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
