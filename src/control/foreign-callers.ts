import type { FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/** A request, as far as it says who sends it. */
type Caller = Pick<FastifyRequest, 'headers' | 'protocol'>

/** Refuses web pages of another origin than the sandbox's, since any page can reach loopback. Throws Problem control_forbidden. */
export function refuseForeignOrigin({ headers: { origin, host = '' }, protocol }: Caller, own: Origin): void {
  if (origin === undefined || origin === `${protocol}://${host}` || own.includes(origin)) return
  throw new Problem('control_forbidden', { detail: 'Web pages of another origin may not use it.', param: 'Origin' })
}

/** Refuses a Host other than loopback, since a page's own name may resolve to it (DNS rebinding). Throws Problem control_forbidden. */
export function refuseForeignHost({ headers: { host } }: Pick<Caller, 'headers'>): void {
  if (LOOPBACK.test(host ?? '')) return
  throw new Problem('control_forbidden', { detail: 'Host must be a loopback address.', param: 'Host' })
}
