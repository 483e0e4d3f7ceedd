import type { RecordedExchange, Refusal } from '../../traffic/recorded-exchange.ts'
import type { Cause } from './cause.ts'

/** The form of the token request is not that of RFC 6749 §4.4 (spec: Identity-provider token 1, 2). */
export const tokenRequest: Cause = {
  id: 'token-request',
  check: 'client_credentials',
  diagnose(exchange) {
    const refusal = tokenRefusal(exchange, ['grant_type', 'content-type'])
    if (!refusal) return undefined
    const form = refusal.aspect?.toLowerCase() === 'content-type'
    return {
      title: form ? 'The token request is no form' : 'The token request asks for another grant',
      expected: refusal.expected ?? (form ? 'application/x-www-form-urlencoded' : 'grant_type client_credentials'),
      came: refusal.came ?? 'none',
      fix: form
        ? 'Send the fields of the token request as application/x-www-form-urlencoded, not as JSON.'
        : 'Set grant_type to client_credentials.',
    }
  },
}

/** Why the token endpoint refused a request, if it did for one of these aspects and no fault asked for it. */
export function tokenRefusal(exchange: RecordedExchange, aspects: readonly string[]): Refusal | undefined {
  const { operation, refusal, faults } = exchange
  if (operation !== 'token' || refusal === null || faults.length > 0) return undefined
  return aspects.includes(refusal.aspect?.toLowerCase() ?? '') ? refusal : undefined
}
