import { assumed, type FidelityRow, LIVE, testsIn } from './row.ts'

const general = testsIn('test/specification/assumptions.test.ts')
const tokens = testsIn('test/specification/assumptions-tokens.test.ts')
const beside = testsIn('test/specification/behaviours-requests.test.ts')
const bodies = testsIn('test/http/bad-bodies.test.ts')
const heads = testsIn('test/http/bad-heads.test.ts')

/** A check that a request can fail, and the refusal that follows. */
interface Precedence {
  id: string
  /** Wording for people. */
  words: string
}

/**
 * Order of the checks: of two errors in a request, the one that stands higher is answered. Assumption
 * `error-precedence`.
 */
export const PRECEDENCE = [
  { id: 'head', words: 'the head of the request (400, 414, 431, 501)' },
  { id: 'route', words: 'route (404, 405)' },
  { id: 'idp_token', words: 'identity-provider token' },
  { id: 'role', words: 'role' },
  { id: 'user_token', words: 'user token' },
  { id: 'subject', words: 'sub' },
  { id: 'idempotency_key', words: 'Idempotency-Key' },
  { id: 'type', words: 'the type and coding of the body (415)' },
  { id: 'size', words: 'its size (413)' },
  { id: 'parameters', words: 'path and query' },
  { id: 'cursors', words: 'two cursors at once' },
  { id: 'cursor', words: 'the cursor (400, 410)' },
  { id: 'body', words: 'the form and the values of the body together' },
  { id: 'mismatch', words: 'a key in use with another body' },
  { id: 'user_jwt', words: 'user_jwt' },
  { id: 'end_user', words: 'end user' },
  { id: 'portfolio', words: 'pool or portfolio' },
  { id: 'balance', words: 'balance' },
] as const satisfies readonly Precedence[]

/** The id of one of {@link PRECEDENCE}. */
export type PrecedenceId = (typeof PRECEDENCE)[number]['id']

/** Open points of the specification about requests and answers in general. */
export const REQUEST_ASSUMPTIONS: readonly FidelityRow[] = [
  assumed(
    'brand',
    "the brand's name in the two response headers",
    'Service: X-Service-Api-Version, X-Service-Request-Id, unless named otherwise',
    general('Assumption brand: X-Service-…, or the name that is set'),
    { ...LIVE, setting: 'service.name' },
  ),
  assumed(
    'protocol-names',
    'the two literal protocol names',
    'aave and morpho, unless named otherwise; the first is Aave V3 and the default',
    general('Assumption protocol-names: aave (the default) and morpho, or the two that are set'),
    { ...LIVE, setting: 'service.protocols' },
  ),
  assumed(
    'audience',
    '<service_audience>',
    'api://yield-sandbox, unless set otherwise: aud of both tokens, and the scope with the suffix /.default',
    general('Assumption audience: api://yield-sandbox, or the one that is set, in both tokens'),
    { ...LIVE, setting: 'service.audience' },
  ),
  assumed(
    'error-body',
    'body fields beside code',
    'RFC 9457 application/problem+json: type, title, status, detail, instance, code, request_id; param where one parameter is at fault, errors: [{param, detail}] where several are. Or the code alone, as JSON',
    general('Assumption error-body: RFC 9457 with code, request_id, param and errors, or the code alone'),
    { ...LIVE, setting: 'service.error_body' },
  ),
  assumed(
    'error-precedence',
    'which error wins when several apply',
    `${PRECEDENCE.map(({ words }) => words).join(', ')}. What a key stands for does not depend on what is there now`,
    testsIn('test/specification/error-precedence.test.ts')(
      'Assumption error-precedence: $first comes before $second ($operation)',
    ),
  ),
  assumed(
    'create-end-user',
    'the whole endpoint',
    'identity-provider token only. Body: external_id (1 to 128 of A-Z a-z 0-9 - _ . and neither . nor .., or what service.external_ids says) and user_jwt, a user token for that external_id, verified when present (401 invalid_user_token, 403 sub_url_mismatch). 201 with id, external_id, tenant_id, tenant_slug, user_source "partner", wallet_address, created_at; a known external_id gives 201 and the record there is. An Idempotency-Key is accepted, not required',
    general('Assumption create-end-user: external_id makes an end user, a known one is given again'),
    { setting: 'service.end_user_jwt' },
  ),
  assumed(
    'ids',
    'what follows the prefixes',
    'ULIDs: jar_, usr_, txn_, req_ and 26 characters',
    general('Assumption ids: ULIDs behind jar_, usr_, txn_ and req_'),
    LIVE,
  ),
  assumed(
    'role-access',
    'which tenant may call what',
    "every endpoint, unless the fixture's tenant.access lists fewer: then 403 insufficient_role",
    tokens('Assumption role-access: every endpoint, unless access lists fewer'),
  ),
  assumed(
    'unknown-route',
    'unknown path or method under /v1/',
    '404 not_found, 405 method_not_allowed with Allow',
    general('Assumption unknown-route: 404 not_found, 405 method_not_allowed with Allow'),
  ),
  assumed(
    'body-limits',
    'oversized, malformed or wrongly typed requests',
    '413 payload_too_large over 100 KiB; 400 validation_error for malformed JSON, over 64 levels, 10,000 values or 1,000 query parameters; 415 unsupported_media_type for other types, charsets and codings; 414 uri_too_long over 8 KiB; 431 request_header_fields_too_large over 16 KiB; 408 request_timeout after 60 s; 501 not_implemented for other transfer codings and unknown methods',
    general('Assumption body-limits: 413 over 100 KiB, 400 for malformed JSON, 415 for another type'),
  ),
  assumed(
    'rate-limit',
    'request rate limits',
    'none; a fault can answer 429 rate_limited with Retry-After',
    general('Assumption rate-limit: there is none, but a fault can answer 429 rate_limited with Retry-After'),
  ),
]

/** Behaviours of requests and answers that the specification does not mention. */
export const REQUEST_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'address-checksum',
    'the case of an Ethereum address',
    'all lower or all upper case passes; a mixed case needs a right EIP-55 checksum, else 400 validation_error',
    bodies('are refused with a wrong checksum or in any other form'),
  ),
  assumed(
    'null-fields',
    'an optional body field that is null',
    'counts as left out: description, protocol, user_jwt',
    beside('Behaviour null-fields: an optional field that is null counts as left out'),
  ),
  assumed(
    'lengths',
    'what a character is',
    'lengths count code points, neither bytes nor UTF-16 units',
    bodies('names of 50 characters are characters, not bytes or surrogates'),
  ),
  assumed(
    'names-as-given',
    'blanks in texts',
    'nothing is trimmed; a blank name and an empty description stay as they are; a description may have any characters',
    beside('Behaviour names-as-given: nothing is trimmed; a blank name and an empty description stay as they are'),
  ),
  assumed(
    'control-characters',
    'control characters in a name',
    '400 validation_error, param name',
    bodies('names, descriptions, chain ids and protocols'),
  ),
  assumed(
    'chain-id-digits',
    'the length of chain_id',
    '1 to 78 digits; a leading zero makes it another chain, 422 pool_not_found',
    beside('Behaviour chain-id-digits: 78 digits at most; a leading zero is another chain'),
  ),
  assumed(
    'amount-digits',
    'the form of amount_minor',
    '1 to 100 digits; leading zeros change nothing',
    beside('Behaviour amount-digits: leading zeros change nothing; 100 digits at most'),
  ),
  assumed(
    'portfolio-id-form',
    'the form of portfolio_id in a body',
    'any text of one character or more is looked for; an empty one is 400 validation_error',
    bodies('amounts'),
  ),
  assumed(
    'query-parameters',
    'spellings of query parameters',
    'limit=05 is 5; a repeated parameter is 400 validation_error; limit[], LIMIT and other unknown ones are ignored',
    beside('Behaviour query-parameters: limit=05 is 5; repeated is 400; unknown ones change nothing'),
  ),
  assumed(
    'json-bodies',
    'odd JSON',
    'of two equal keys the last wins; a byte order mark passes; __proto__ and constructor.prototype are 400 validation_error; unknown fields are ignored',
    beside('Behaviour json-bodies: of two equal keys the last wins; a BOM passes; __proto__ is refused'),
  ),
  assumed(
    'media-types',
    'content types and charsets',
    'application/json alone, in UTF-8; vendor types (+json) and other charsets are 415 unsupported_media_type',
    beside('Behaviour media-types: application/json in UTF-8 alone'),
  ),
  assumed(
    'content-codings',
    'compressed bodies',
    '415 unsupported_media_type with Accept-Encoding: identity',
    heads('POST %s: 415 for compressed bodies, and what would be read instead'),
    { source: 'RFC 9110 §15.5.16' },
  ),
  assumed(
    'external-ids',
    'the alphabet of external_ids',
    'a regular expression for end users that are created; an external_id in a path that nobody can have is 404 end_user_not_found (endpoint 3, rule 4)',
    general('Assumption create-end-user: external_id is what service.external_ids says'),
    { setting: 'service.external_ids' },
  ),
  assumed(
    'end-user-dots',
    'end users called . and ..',
    '400 validation_error when they are created: URL clients resolve such paths, so nobody could address them; in a path 404 end_user_not_found',
    bodies('an external_id outside its alphabet'),
    { source: 'RFC 3986 §5.2.4' },
  ),
  assumed(
    'route-before-credentials',
    '404 and 405 of a path without credentials',
    'the route comes first: they are answered before authentication',
    beside('Behaviour route-before-credentials: 404 and 405 come before authentication'),
  ),
  assumed(
    'exact-paths',
    'spellings of a path',
    'a trailing slash or another case is 404 not_found',
    beside('Behaviour exact-paths: a trailing slash or another case is 404 not_found'),
  ),
  assumed(
    'head-and-options',
    'HEAD and OPTIONS',
    'HEAD is answered wherever GET is, with the same headers and no body; OPTIONS is 405 with Allow',
    testsIn('test/http/head.test.ts')('%s: the same headers, no body'),
    { source: 'RFC 9110 §9.1' },
  ),
  assumed(
    'challenges',
    'the challenge of a 401',
    'WWW-Authenticate: Bearer with the realm partner-api, user-token or control, and error="invalid_token" if a token came',
    testsIn('test/http/challenges.test.ts')('a bad token: that it is the token, and nothing of the token'),
    { source: 'RFC 9110 §15.5.2, RFC 6750 §3' },
  ),
  assumed(
    'retry-after',
    'how long to wait',
    'Retry-After in seconds with every 429 and 503: 1, 2 when a chain cannot be reached, 5 when nothing can be written',
    testsIn('test/http/challenges.test.ts')('is there with 429 and 503 that a fault answers %s'),
  ),
  assumed(
    'not-serving',
    'requests before it is ready, and held at a reset',
    '503 sandbox_starting with Retry-After',
    testsIn('test/http/starting.test.ts')('before it is ready, it says so everywhere, and that waiting helps'),
  ),
  assumed(
    'failures',
    'failures of the service itself',
    '500 internal_error; 503 chain_unavailable and service_unavailable pass. 502 bad_gateway and 504 gateway_timeout, which only a proxy in front would give, and all others are there as faults',
    testsIn('test/faults/answers.test.ts')('answers any code of the catalogue'),
  ),
  assumed(
    'sandbox-routes',
    'what only the sandbox has',
    '/_sandbox, /rpc/{chain_id}, /docs, /openapi.json, and the request header X-Sandbox-Fault: a client of the service needs none of them',
    testsIn('test/specification/endpoints.test.ts')(
      'Endpoints: beside them it describes the identity provider, the chains and the control interface only',
    ),
  ),
  assumed(
    'namespaces',
    'isolated copies of everything behind the API',
    'POST /_sandbox/namespaces makes one with credentials of its own, and these choose it: everything else of a request is as without. /_sandbox/namespaces/{name} controls it, /rpc/{name}/{chain_id} are its chains. A token of a deleted one is answered 401 unknown_partner',
    testsIn('test/sandbox/namespaces.test.ts')('its credentials choose it'),
  ),
  assumed(
    'addresses',
    'the URLs that the sandbox tells',
    'one origin: --public-url, else the address it listens on. The Host header is never followed; on loopback, discovery and tokens know the names 127.0.0.1, localhost and [::1]',
    testsIn('test/http/addresses.test.ts')('no URL follows the Host header'),
  ),
  assumed(
    'two-clocks',
    'what time it is',
    'business time (cursors, idempotency, created_at, confirmation, yield, blocks) is the sandbox clock, which can be frozen and moved; tokens live in real time',
    testsIn('test/specification/assumptions.test.ts')(
      'Assumptions, clocks: moving business time does not expire tokens',
    ),
  ),
  assumed(
    'error-docs',
    'where errors are described',
    'no doc_url, and the type urn:yield-partner-api:error:<code>; set to an address, type and doc_url are that address, a slash and the code',
    testsIn('test/specification/live-like.test.ts')('Live-like: errors say where they are described'),
    { setting: 'service.error_docs' },
  ),
  assumed(
    'whole-tokens',
    'amounts in the details of errors',
    'minor units, as everywhere: 500000 minor units; set to whole_tokens, 0.5 USDC',
    testsIn('test/specification/live-like.test.ts')('Live-like: details of errors speak of whole tokens'),
    { ...LIVE, setting: 'service.error_amounts' },
  ),
  assumed(
    'other-ids',
    'the form of tenant_id and pool_id',
    'what the fixture file says: UUIDs, and aave-usdc and the like, in the shipped one; tnt_… and pool_aave_base_usdc in live-like.yaml',
    testsIn('test/specification/live-like.test.ts')('Live-like: chain 84532, USDC alone, ids of other forms'),
  ),
  assumed(
    'live-chains',
    'the chains and tokens',
    'a local chain 31337 with USDC and WETH; any chain id and choice of tokens, or forks of real chains, by the fixture file; live-like.yaml has 84532 with USDC alone',
    testsIn('test/specification/live-like.test.ts')('Live-like: chain 84532, USDC alone, ids of other forms'),
  ),
  assumed(
    'base-path',
    'a path prefix in the base address',
    'none: {base_url} is the origin, and anything else before /v1/ is 404 not_found. Set to /api, {base_url} ends in it and the service is there alone; the token address, control, RPC and docs stay where they are',
    testsIn('test/http/base-path.test.ts')('the service is behind the base path, and nowhere else'),
    { setting: 'service.base_path' },
  ),
]

/** Open points of the specification about lists and their pages. */
export const LIST_ASSUMPTIONS: readonly FidelityRow[] = [
  assumed(
    'list-portfolio-fields',
    "list items' other fields",
    'those of the create response (with token nested) and apy_snapshot (a number), total_gross_yield_earned, total_fees_paid, last_synced_at',
    general('Assumption list-portfolio-fields: those of the create response, and four more'),
    LIVE,
  ),
  assumed(
    'list-order',
    'order of pools and portfolios',
    'pools by pool_id; portfolios oldest first (created_at, then id)',
    general('Assumption list-order: pools by pool_id, portfolios oldest first'),
  ),
  assumed(
    'has-more',
    'has_more when paging backward',
    'true exactly when next_cursor is not null',
    general('Assumption has-more: true exactly when next_cursor is not null, backward too'),
  ),
  assumed(
    'limit-invalid',
    'limit outside 1 to 100, not a whole number',
    '400 validation_error, param limit',
    general('Assumption limit-invalid: 400 validation_error, param limit'),
  ),
  assumed(
    'cursor-scope',
    'a genuine cursor on another list, tenant or end user',
    '400 cursor_invalid',
    general('Assumption cursor-scope: a genuine cursor of another list, tenant or end user is 400 cursor_invalid'),
  ),
]

/** Behaviours of pages that the specification does not mention. */
export const LIST_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'empty-cursor',
    'starting_after= and ending_before= without a value',
    '400 cursor_invalid',
    beside('Behaviour empty-cursor: an empty cursor is 400 cursor_invalid'),
  ),
  assumed(
    'cursor-use',
    'cursors used in other ways',
    'a next_cursor works as ending_before; another limit may go with a cursor',
    beside('Behaviour cursor-use: next_cursor works as ending_before, and another limit may go with a cursor'),
  ),
  assumed(
    'first-page',
    'which page is the first',
    'prev_cursor is null on what is the first page now: once rows come before it, it is one no more',
    beside('Behaviour first-page: prev_cursor is null on what is the first page now'),
  ),
  assumed(
    'cursor-after-reset',
    'tokens and cursors from before a reset',
    'stay good: the keys that sign them are the same',
    beside('Behaviour after-a-reset: tokens and cursors from before it stay good'),
  ),
]
