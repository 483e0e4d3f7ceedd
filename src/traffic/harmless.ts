import type { Operation } from '../domain/operations.ts'

/** Names whose values are secret, whatever they are; values of other unlisted names are hidden because they are unknown. */
export const SECRET_NAME =
  /secret|passw(or)?d|passphrase|assertion|credential|private.?key|api.?key|cookie|session|authorization|(^|[-_])token$/i

/** Headers that the specification names, or that only describe the client's use of HTTP. */
const HEADERS = new Set(
  `accept accept-charset accept-encoding accept-language cache-control connection content-encoding content-length content-type date
  dnt expect forwarded host idempotency-key keep-alive origin pragma priority prefer te traceparent trailer transfer-encoding upgrade
  upgrade-insecure-requests user-agent via x-correlation-id x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto
  x-request-id x-requested-with x-sandbox-fault`.split(/\s+/),
)
const BROWSER_HEADER = /^sec-(?:ch|fetch)-[a-z-]+$/

/** Query parameters of the lists. */
const PARAMETERS = new Set(['limit', 'starting_after', 'ending_before'])

const TRANSFER = ['portfolio_id', 'amount_minor', 'amount']
const PORTFOLIO = ['name', 'chain_id', 'token_address', 'market_address', 'protocol']
const TOKEN = ['grant_type', 'scope', 'client_id', 'client_assertion_type', 'resource', 'audience']

/** Fields of each operation's body, in any spelling. */
const FIELDS: Record<Operation, ReadonlySet<string>> = {
  list_pools: spelled([]),
  create_end_user: spelled(['external_id']),
  create_portfolio: spelled(PORTFOLIO),
  list_portfolios: spelled([]),
  deposit: spelled(TRANSFER),
  withdraw: spelled(TRANSFER),
  list_transactions: spelled([]),
  token: spelled(TOKEN),
}
/** Fields of a body sent to a path that is not an operation's. */
const ANY_FIELD = spelled(['external_id', ...PORTFOLIO, ...TRANSFER, ...TOKEN])

/** Claims and header members of tokens that the specification, RFC 7515 or RFC 7519 names, and Entra's. */
const CLAIMS = new Set(
  'alg kid typ cty crit aud iss iat nbf exp jti sub appid appidacr azp tid oid roles scp scope ver client_id'.split(
    ' ',
  ),
)

/** Segments of an unknown path: words, versions, small numbers, ids of the service. */
const SEGMENT =
  /^(?:[a-z%][a-z%_.-]{0,31}|\.[a-z_.-]{1,31}|_[a-z_-]{1,31}|v\d{1,2}(?:\.\d{1,2})?|\d{1,5}|[a-z]{3}_[0-9A-Z]{26}|oauth2)$/i

/** Values that are not secret under any name. */
const PLAIN = /^(?:|true|false|null|undefined|(?:jar|usr|txn|req)_[0-9A-Z]{26}|0x[0-9a-fA-F]{40})$/

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Decides by name or value what may be shown as it is, unless it looks like a secret. Everything else is hidden. */
export const harmless = {
  header(name: string): boolean {
    const lower = name.toLowerCase()
    return HEADERS.has(lower) || BROWSER_HEADER.test(lower)
  },
  parameter: (name: string): boolean => PARAMETERS.has(name),
  field: (operation: Operation | null, name: string): boolean => fieldsOf(operation).has(bare(name)),
  /** For the end of a body that was cut. */
  beginningOfField: (operation: Operation | null, text: string): boolean =>
    text.length > 2 && [...fieldsOf(operation)].some((field) => field.startsWith(bare(text))),
  claim: (name: string): boolean => CLAIMS.has(name),
  segment: (segment: string): boolean => SEGMENT.test(segment),
  value: (value: string): boolean => PLAIN.test(value),
  clientId: (value: string): boolean => UUID.test(value),
} as const

function fieldsOf(operation: Operation | null): ReadonlySet<string> {
  return operation === null ? ANY_FIELD : FIELDS[operation]
}

function spelled(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(bare))
}

/** `amountMinor` and `amount-minor` are `amount_minor`. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
