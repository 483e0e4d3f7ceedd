import type { RecordedExchange, Refusal } from '../../traffic/recorded-exchange.ts'
import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

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

/** The refusal by the token endpoint, if it was for one of these aspects and no fault caused it. */
export function tokenRefusal(exchange: RecordedExchange, aspects: readonly string[]): Refusal | undefined {
  const { operation, refusal, faults } = exchange
  if (operation !== 'token' || refusal === null || faults.length > 0) return undefined
  return aspects.includes(refusal.aspect?.toLowerCase() ?? '') ? refusal : undefined
}

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

/** The token endpoint knows the application, but the secret is wrong (RFC 6749 §5.2). */
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

const FIX =
  'Use the tenant id of the credentials in the address of the token endpoint: tenant_id of GET /_sandbox/credentials.'

/** The access token has another tenant id than the application. */
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
