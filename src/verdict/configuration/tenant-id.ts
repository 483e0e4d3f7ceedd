import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

/** The access token is of another tenant id than the application's. */
export const tenantId: Cause = {
  id: 'tenant-id',
  check: 'idp_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['tid'] }, around)) return undefined
    return {
      title: 'The access tokens are of another tenant than the application',
      expected: `tid ${exchange.refusal?.expected ?? 'of the application'}`,
      came: `tid ${shown(claimOf(exchange.request.idp_token, 'tid'))}`,
      fix: 'Use the tenant id of the credentials in the address of the token endpoint: tenant_id of GET /_sandbox/credentials.',
    }
  },
}
