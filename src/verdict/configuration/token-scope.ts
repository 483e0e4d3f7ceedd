import type { Cause } from './cause.ts'
import { tokenRefusal } from './token-request.ts'

/** The scope is not `<service_audience>/.default` (spec: Identity-provider token 2). */
export const tokenScope: Cause = {
  id: 'token-scope',
  check: 'client_credentials',
  diagnose(exchange, { settings }) {
    const refusal = tokenRefusal(exchange, ['scope'])
    if (!refusal) return undefined
    return {
      title: 'The scope of the token request is not that of the service',
      expected: `scope ${refusal.expected ?? `${settings.audience}/.default`}`,
      came: `scope ${refusal.came ?? 'none'}`,
      fix: 'Ask for the scope of the credentials: YIELD_SCOPE (scope of GET /_sandbox/credentials).',
    }
  },
}
