import { headerWith } from './edits.mjs'

const RENEWAL = 'return this.#exchange<T>(request, await this.#idpTokens.renew(idpToken), userToken)'

/** Mistakes about credentials and connections. */
export const TOKENS = [
  {
    id: 'token-per-request',
    finding: 'idp-token-reuse',
    what: 'Obtains an access token for each request.',
    exercise: {},
    edits: [
      { file: 'tokens.ts', find: 'if (this.#token === undefined || Date.now() >= this.#staleAt) {', replace: '{' },
    ],
  },
  {
    id: 'token-used-to-the-last-second',
    finding: 'idp-token-expiry',
    what: 'Uses an access token in its last 60 seconds.',
    exercise: { scenario: 'short-lived-token', confirmationDelay: '500ms' },
    edits: [
      { file: 'tokens.ts', find: '(Number(body.expires_in) - 60) * 1000', replace: 'Number(body.expires_in) * 1000' },
    ],
  },
  {
    id: 'no-refresh-after-401',
    finding: 'idp-token-refresh',
    what: 'Does not obtain another access token when one is refused.',
    exercise: { scenario: 'idp-token-expiry' },
    edits: [{ file: 'http.ts', find: RENEWAL, replace: 'throw error' }],
  },
  {
    id: 'refresh-loop',
    finding: 'idp-token-refresh',
    what: 'Obtains access tokens for as long as they are refused.',
    exercise: {
      faults: [{ kind: 'token_expired', match: { operation: 'deposit' }, times: 6, with: { token: 'idp' } }],
    },
    edits: [
      {
        file: 'http.ts',
        find: RENEWAL,
        replace: 'await this.#idpTokens.renew(idpToken)\n        return this.#withTokens<T>(request)',
      },
    ],
  },
  {
    id: 'user-token-without-typ',
    finding: 'user-token-header',
    what: 'Leaves typ out of user tokens.',
    exercise: {},
    edits: headerWith("{ alg: 'RS256', kid }"),
  },
  {
    id: 'user-token-without-kid',
    finding: 'user-token-header',
    what: 'Leaves kid out of user tokens.',
    exercise: {},
    edits: headerWith("{ alg: 'RS256', typ: 'JWT' }"),
  },
  {
    id: 'user-token-signed-with-rs512',
    finding: 'user-token-header',
    what: 'Signs user tokens with RS512.',
    exercise: {},
    edits: [
      ...headerWith("{ alg: 'RS512', kid, typ: 'JWT' }"),
      { file: 'tokens.ts', find: "sign('RSA-SHA256'", replace: "sign('RSA-SHA512'" },
    ],
  },
  {
    id: 'user-token-for-a-day',
    finding: 'user-token-lifetime',
    what: 'Mints user tokens that live a day.',
    exercise: {},
    edits: [{ file: 'tokens.ts', find: 'const LIFETIME_S = 3600', replace: 'const LIFETIME_S = 86_400' }],
  },
  {
    id: 'user-token-of-another',
    finding: 'user-token-subject',
    what: 'Sends the token of the first end user for all of them.',
    exercise: {},
    edits: [
      {
        file: 'tokens.ts',
        find: 'const kept = this.#tokens.get(externalId)',
        replace: 'const kept = [...this.#tokens.values()][0]',
      },
    ],
  },
  {
    id: 'no-fresh-user-token',
    finding: 'user-token-refresh',
    what: 'Does not mint another user token when one is refused.',
    exercise: { scenario: 'bad-user-signature' },
    edits: [
      {
        file: 'http.ts',
        find: 'return this.#exchange<T>(request, idpToken, this.#userTokens.renew(user))',
        replace: 'throw error',
      },
    ],
  },
  {
    id: 'secret-in-the-url',
    finding: 'credential-placement',
    what: 'Sends the client secret in the URL of the token request as well.',
    exercise: {},
    edits: [
      {
        file: 'tokens.ts',
        find: 'await fetch(authUrl, {',
        replace: 'await fetch(`${authUrl}?client_secret=${encodeURIComponent(clientSecret)}`, {',
      },
    ],
  },
  {
    id: 'connection-per-request',
    finding: 'connection-reuse',
    what: 'Opens a connection for each request.',
    exercise: {},
    edits: [
      {
        file: 'http.ts',
        find: 'new Headers({ authorization',
        replace: "new Headers({ connection: 'close', authorization",
      },
    ],
  },
]
