import { type Cause, claimOf, refusedFor, shown } from './cause.ts'
import { tokenRefusal } from './token-request-causes.ts'

const FIX =
  'Use the tenant id of the credentials in the address of the token endpoint: tenant_id of GET /_sandbox/credentials.'

/** The access token is of another tenant id than the application's. */
export const tenantId: Cause = {
  id: 'tenant-id',
  check: 'idp_token',
  diagnose(exchange, around) {
    const inPath = tokenRefusal(exchange, ['tenant_id'])
    if (inPath)
      return {
        title: 'The address of the token endpoint has the id of another tenant',
        expected: inPath.expected ?? 'the tenant of the application',
        came: inPath.came ?? shown(exchange.request.path),
        fix: FIX,
      }
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['tid'] }, around)) return undefined
    return {
      title: 'The access tokens are of another tenant than the application',
      expected: `tid ${exchange.refusal?.expected ?? 'of the application'}`,
      came: `tid ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'tid'))}`,
      fix: FIX,
    }
  },
}
