import { type Cause, refusedFor, shown } from './cause.ts'

/** The token endpoint does not know the application (RFC 6749 §5.2). */
export const clientId: Cause = {
  id: 'client-id',
  check: 'client_credentials',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'client_credentials', aspects: ['client_id'] }, around)) return undefined
    return {
      title: 'The client id is not that of a registered application',
      expected: exchange.refusal?.expected ?? 'the client id of a registered application',
      came: `client_id ${shown(exchange.request.client_id)}`,
      fix: 'Use the client id of the credentials: YIELD_CLIENT_ID (client_id of GET /_sandbox/credentials). Each namespace has its own.',
    }
  },
}
