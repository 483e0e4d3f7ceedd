import { freshKeyWhen, keysMadeBy } from './edits.mjs'

const dropOf = (operation) => `error instanceof NoAnswer && request.path.endsWith('/${operation}')`

/** Mistakes about Idempotency-Key. */
export const KEYS = [
  {
    id: 'fresh-key-on-deposit-retry',
    finding: 'idempotency-key-on-retry',
    what: 'Retries a dropped deposit with a fresh key.',
    exercise: { scenario: 'dropped-deposit' },
    edits: freshKeyWhen(dropOf('deposit')),
  },
  {
    id: 'fresh-key-on-withdraw-retry',
    finding: 'idempotency-key-on-retry',
    what: 'Retries a dropped withdrawal with a fresh key.',
    exercise: { scenario: 'dropped-withdraw' },
    edits: freshKeyWhen(dropOf('withdraw')),
  },
  {
    id: 'fresh-key-on-portfolio-retry',
    finding: 'idempotency-key-on-retry',
    what: 'Retries a dropped creation of a portfolio with a fresh key.',
    exercise: {
      faults: [{ kind: 'drop_connection', phase: 'during_response', match: { operation: 'create_portfolio' } }],
    },
    edits: freshKeyWhen(dropOf('portfolios')),
  },
  {
    id: 'fresh-key-after-503',
    finding: 'idempotency-key-after-error',
    what: 'Takes a fresh key for the retry after 503.',
    exercise: {
      faults: [{ kind: 'error', phase: 'after_broadcast', match: { operation: 'deposit' }, with: { status: 503 } }],
    },
    edits: freshKeyWhen('error instanceof ApiError && error.status === 503 && request.key'),
  },
  {
    id: 'fresh-key-after-token-refresh',
    finding: 'idempotency-key-after-error',
    what: 'Takes a fresh key when it repeats a request with a new access token.',
    exercise: { faults: [{ kind: 'token_expired', match: { operation: 'deposit' }, with: { token: 'idp' } }] },
    edits: [
      {
        file: 'http.ts',
        find: 'return this.#exchange<T>(request, await this.#idpTokens.renew(idpToken), userToken)',
        replace: `const fresh = request.key ? { ...request, key: crypto.randomUUID() } : request
        return this.#exchange<T>(fresh, await this.#idpTokens.renew(idpToken), userToken)`,
      },
    ],
  },
  {
    id: 'one-key-for-everything',
    finding: 'idempotency-key-per-operation',
    what: 'Sends one key with every operation.',
    exercise: {},
    edits: keysMadeBy("'3f8a1c52-6d0e-4b97-8a43-5c1de2f07b96'"),
  },
  {
    id: 'one-key-for-deposit-and-withdraw',
    finding: 'idempotency-key-per-operation',
    what: 'Sends the key of the last deposit with the withdrawal.',
    exercise: {},
    edits: [
      {
        file: 'client.ts',
        find: 'const body = { portfolio_id: portfolioId',
        replace: `const last = globalThis as { depositKey?: string }
    if (type === 'withdraw') key = last.depositKey ?? key
    else last.depositKey = key
    const body = { portfolio_id: portfolioId`,
      },
    ],
  },
  {
    id: 'key-from-a-counter',
    finding: 'idempotency-key-format',
    what: 'Counts its operations and sends the number as the key.',
    exercise: {},
    edits: keysMadeBy('`operation-${++made}`'),
  },
  {
    id: 'key-of-uuid-v1',
    finding: 'idempotency-key-format',
    what: 'Sends a UUID v1, made of the time.',
    exercise: {},
    edits: keysMadeBy('`${(0x5c1de2f0 + made++).toString(16)}-c7e4-11f0-9c1a-0242ac120002`'),
  },
]
