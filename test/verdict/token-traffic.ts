import type { ShownToken } from '../../src/traffic/recorded-exchange.ts'
import { type ExchangeParts, exchange } from './exchange.ts'

/** A token as it is shown; `name` stands for its text. */
export function shownToken(name: string, parts: Partial<ShownToken> = {}): ShownToken {
  return { fingerprint: name, header: { alg: 'RS256', kid: 'key-1', typ: 'JWT' }, claims: {}, ...parts }
}

/** A token request that gets a token. */
export function fetchOf(token: string, { expires_in = 3600, ...rest }: ExchangeParts & { expires_in?: number } = {}) {
  return exchange({
    operation: 'token',
    external_id: null,
    ...rest,
    request: { path: '/oauth2/token', client_id: 'client-1' },
    response: { issued: { token: shownToken(token), expires_in } },
  })
}

/** A request for the pools with an access token. */
export function poolsWith(token: string, parts: ExchangeParts = {}) {
  return exchange({
    operation: 'list_pools',
    external_id: null,
    ...parts,
    request: { method: 'GET', path: '/v1/partner/pools', idp_token: shownToken(token), ...parts.request },
  })
}

/** A deposit with both tokens, under a key. */
export function depositWith(
  tokens: { idp?: string; user?: string | ShownToken },
  key: string,
  parts: ExchangeParts = {},
) {
  const { idp = 'T', user = 'U' } = tokens
  return exchange({
    idempotency: { key, use: 'first' },
    ...parts,
    request: {
      body: '{"portfolio_id":"jar_1","amount_minor":"1000"}',
      idp_token: shownToken(idp),
      user_token: typeof user === 'string' ? shownToken(user) : user,
      ...parts.request,
    },
  })
}

export const idpRefused = { response: { status: 401, code: 'invalid_idp_token' } } as const
export const userRefused = { response: { status: 401, code: 'invalid_user_token' } } as const
export const struck = (kind: string) => ({
  faults: [{ id: 'f1', kind, phase: 'on_request', explanation: `${kind} struck.` }],
})
