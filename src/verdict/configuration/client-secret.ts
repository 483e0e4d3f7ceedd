import { type Cause, refusedFor } from './cause.ts'

/** The token endpoint knows the application, and its secret is another one (RFC 6749 §5.2). */
export const clientSecret: Cause = {
  id: 'client-secret',
  check: 'client_credentials',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'client_credentials', aspects: ['client_secret'] }, around)) return undefined
    const { client_id } = exchange.request
    return {
      title: 'The client secret is wrong',
      expected: client_id === null ? 'client_id and client_secret' : `the secret of ${client_id.slice(0, 100)}`,
      came: exchange.refusal?.came ?? 'another secret',
      fix: 'Use the client secret of the credentials: YIELD_CLIENT_SECRET (client_secret of GET /_sandbox/credentials). In HTTP Basic, id and secret are percent-encoded.',
    }
  },
}
