import { expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Operation } from '../../src/domain/operations.ts'
import { ExchangeLog } from '../../src/traffic/exchange-log.ts'
import { explainExchange } from '../../src/traffic/explain-exchange.ts'
import { harOf } from '../../src/traffic/har.ts'
import { Redactor } from '../../src/traffic/redact.ts'

/** The secret of the fixture, which the redactor knows. */
const CONFIGURED = 'acme/demo+secret=1'
/** Secrets of other services, of which it knows nothing: one that somebody chose, one that was drawn. */
const CHOSEN = 'hunter2-and-horse'
const DRAWN = 'q8XvT3nLr0ZkP5wYb2HsJd7M'
const b64 = (text: string) => Buffer.from(text).toString('base64url')
const SIGNATURE = 'c2lnbmF0dXJlLW9mLWEtdG9rZW4'
const JWT = `${b64('{"alg":"RS256"}')}.${b64('{"sub":"dan"}')}.${SIGNATURE}`
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----'

interface Sent {
  operation: Operation | null
  url: string
  headers: string[]
  body?: string
}

const pools = (sent: Partial<Sent>): Sent => ({
  operation: 'list_pools',
  url: '/v1/partner/pools',
  headers: [],
  ...sent,
})
const deposit = (body: string): Sent => ({
  operation: 'deposit',
  url: '/v1/partner/end_users/alice/deposit',
  headers: ['content-type', 'application/json'],
  body,
})
const token = (body: string, headers: string[] = []): Sent => ({
  operation: 'token',
  url: '/oauth2/token',
  headers,
  body,
})

const QUERY =
  'sig signature key auth code pwd accessToken access_token token id_token jwt secret client_secret clientSecret password pass passwd api_key apikey apiKey k t s x q hash hmac nonce otp pin session sid state credentials bearer refresh_token code_verifier assertion SAMLResponse X-Amz-Signature X-Amz-Credential subscription-key sv se user'.split(
    ' ',
  )
const HEADERS =
  'DPoP Ocp-Apim-Subscription-Key X-Signature X-Api-Key Api-Key ApiKey X-Auth X-Auth-Token X-Access-Token X-Key X-Secret X-Client-Secret X-Hmac Signature Signature-Input X-Hub-Signature-256 X-Amz-Security-Token X-Csrf X-Xsrf-Token Cookie Set-Cookie Proxy-Authorization X-Forwarded-Authorization X-Original-Authorization X-Goog-Api-Key X-Vault X-Session X-Jwt-Assertion Client-Cert X-Forwarded-Client-Cert Baggage Tracestate Referer X-Webhook X-Password X-Otp Authentication X-Authorization'.split(
    ' ',
  )
const MEMBERS =
  'client_secret clientSecret secret password pwd pass key sig signature auth code pin otp accessToken token api_key apiKey jwt user_jwt userJwt private_key session cookie credentials note comment metadata hmac nonce x'.split(
    ' ',
  )
const FIELDS =
  'client_secret client_assertion assertion password code code_verifier refresh_token device_code key pwd clientSecret secret token sig subject_token actor_token'.split(
    ' ',
  )

/** Names of places, and what is sent: in each a secret stands. */
const SPELLINGS: [string, Sent][] = [
  ...QUERY.map((name): [string, Sent] => [`query ${name}`, pools({ url: `/v1/partner/pools?${name}=${CHOSEN}` })]),
  ...HEADERS.map((name): [string, Sent] => [`header ${name}`, pools({ headers: [name, CHOSEN] })]),
  ...MEMBERS.map((name): [string, Sent] => [
    `member ${name}`,
    deposit(JSON.stringify({ amount_minor: '1', [name]: CHOSEN })),
  ]),
  ...MEMBERS.slice(0, 10).map((name): [string, Sent] => [
    `nested member ${name}`,
    deposit(JSON.stringify({ amount_minor: { [name]: CHOSEN }, portfolio_id: [CHOSEN] })),
  ]),
  ...FIELDS.map((name): [string, Sent] => [`form ${name}`, token(`grant_type=client_credentials&${name}=${CHOSEN}`)]),
  ...MEMBERS.slice(0, 8).map((name): [string, Sent] => [
    `JSON at the token endpoint, ${name}`,
    token(JSON.stringify({ grant_type: 'client_credentials', [name]: CHOSEN })),
  ]),
  ...Object.entries({
    'JSON as curl sends it': `{"client_id": "x", "client_secret": "${CHOSEN}"}`,
    'in single quotes': `{'client_secret': '${CHOSEN}'}`,
    'without quotes': `{client_secret: ${CHOSEN}}`,
    YAML: `client_secret: ${CHOSEN}\n`,
    'in two lines': `client_secret=\n${CHOSEN}`,
    XML: `<client_secret>${CHOSEN}</client_secret>`,
    'behind a semicolon': `grant_type=client_credentials;client_secret=${CHOSEN}`,
    'id and secret swapped': `client_id=${CHOSEN}&client_secret=5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e01`,
    'id and secret swapped, drawn': `client_id=${DRAWN}&client_secret=5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e01`,
    alone: CHOSEN,
    'a value without a name': `=${CHOSEN}`,
    'id and secret with a colon': `5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e01:${CHOSEN}`,
    'in the scope': `scope=${DRAWN}`,
    'in the grant': `grant_type=${DRAWN}`,
    'encoded JSON': encodeURIComponent(`{"client_secret":"${CHOSEN}"}`),
    'cut JSON': `{"grant_type":"client_credentials","client_secret":"${CHOSEN}`,
    'encoded name': `client%5Fsecret=${CHOSEN}`,
    'name in capitals': `CLIENT_SECRET=${CHOSEN}`,
    'a list': JSON.stringify([CHOSEN]),
    'two of a name': `{"scope":"a","client_secret":"b","client_secret":"${CHOSEN}"}`,
  }).map(([name, body]): [string, Sent] => [`token request ${name}`, token(body)]),
  ...Object.entries({
    'a broken body': `{"amount_minor":"1","pwd":"${CHOSEN}"`,
    'a name that is one': JSON.stringify({ [DRAWN]: 1 }),
    'a number in the place of a text': JSON.stringify({ pin: CHOSEN, amount_minor: 1 }),
    'two of a name': `{"amount_minor":{"pwd":"${CHOSEN}"},"amount_minor":"1"}`,
    'the field portfolio_id': JSON.stringify({ portfolio_id: DRAWN }),
    'the field portfolio_id, a token': JSON.stringify({ portfolio_id: JWT }),
    'the field amount_minor, a token': JSON.stringify({ amount_minor: JWT }),
    'a private key': JSON.stringify({ note: PEM }),
    'a private key as text': PEM,
    'many members': JSON.stringify(Object.fromEntries([...Array(80).keys()].map((i) => [`m${i}`, CHOSEN]))),
    'a long text': `${'x '.repeat(2_000)}${CHOSEN}`,
  }).map(([name, body]): [string, Sent] => [`deposit, ${name}`, deposit(body)]),
  ...Object.entries({
    'a path nobody serves': `/v1/partner/${CHOSEN}`,
    'a path of other services': `/login/${CHOSEN}/callback`,
    'a drawn one in a path': `/v2/${DRAWN}`,
    'a token in a path': `/v1/${JWT}`,
    'a token with encoded dots': `/v1/${JWT.replaceAll('.', '%2E')}`,
    'user-info': `http://me:${CHOSEN}@127.0.0.1/v1/partner/pools`,
    'the configured one': `/v1/${encodeURIComponent(CONFIGURED)}`,
    'the configured one, encoded twice': `/v1/${encodeURIComponent(encodeURIComponent(CONFIGURED))}`,
  }).map(([name, url]): [string, Sent] => [`path, ${name}`, { operation: null, url, headers: [] }]),
  ...Object.entries({
    Authorization: `Bearer ${JWT}`,
    'authorization ': CHOSEN,
    'Authorization  ': `Digest ${CHOSEN}`,
    'Authorization   ': `Basic ${Buffer.from(`id:${CHOSEN}`).toString('base64')}`,
    'Authorization    ': `Bearer ${CHOSEN}`,
    'X-User-Token': JWT,
    'X-User-Token ': CHOSEN,
    'User-Agent': `curl Bearer ${DRAWN}`,
    'Idempotency-Key': DRAWN,
    'Idempotency-Key ': JWT,
    'Content-Type': `text/plain; key=${DRAWN}`,
    Origin: `https://me:${CHOSEN}@example.com`,
    'X-Request-Id': JWT,
    Accept: DRAWN,
  }).map(([name, value]): [string, Sent] => [`header ${name}: …`, pools({ headers: [name.trim(), value] })]),
  ...Object.entries({
    'starting_after, a token': `starting_after=${JWT}`,
    'starting_after, a drawn one': `starting_after=${DRAWN}`,
    'limit, a drawn one': `limit=${DRAWN}`,
    'a name without a value': `${DRAWN}`,
    'a name that is a token': `${JWT}=1`,
    encoded: `a=${encodeURIComponent(CONFIGURED)}`,
  }).map(([name, query]): [string, Sent] => [`query, ${name}`, pools({ url: `/v1/partner/pools?${query}` })]),
  ...[JWT, DRAWN].map((id): [string, Sent] => [
    `external id ${id}`,
    { operation: 'list_portfolios', url: `/v1/partner/end_users/${id}/portfolios`, headers: [] },
  ]),
  ['external id of a new end user', { ...deposit(JSON.stringify({ external_id: JWT })), operation: 'create_end_user' }],
  [
    'a claim',
    pools({
      headers: ['X-User-Token', `${b64('{"alg":"RS256"}')}.${b64(`{"sub":"a","pwd":"${CHOSEN}"}`)}.${SIGNATURE}`],
    }),
  ],
  [
    'a header of a token',
    pools({ headers: ['X-User-Token', `${b64(`{"alg":"RS256","key":"${CHOSEN}"}`)}.${b64('{}')}.${SIGNATURE}`] }),
  ],
  ...[
    CONFIGURED,
    encodeURIComponent(CONFIGURED),
    encodeURIComponent(CONFIGURED).toLowerCase(),
    JSON.stringify(CONFIGURED),
    Buffer.from(CONFIGURED).toString('base64'),
    Buffer.from(`client:${CONFIGURED}`).toString('base64'),
    Buffer.from(`x:${CONFIGURED}:y`).toString('base64'),
    Buffer.from(CONFIGURED).toString('hex'),
    [...CONFIGURED].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ].map((text): [string, Sent] => [
    `the configured one as ${text}`,
    deposit(`{"portfolio_id":"${text.replaceAll('"', '')}"}`),
  ]),
]

/** What nobody may read: the secrets, and what one of them looks like in another encoding. */
const NEVER = [
  CONFIGURED,
  CHOSEN,
  DRAWN,
  SIGNATURE,
  'MIIEvQIBADANBgkqhkiG9w0',
  encodeURIComponent(CONFIGURED),
  Buffer.from(CONFIGURED).toString('base64').slice(2, -4),
  Buffer.from(`client:${CONFIGURED}`).toString('base64').slice(12, -4),
  Buffer.from(`x:${CONFIGURED}:y`).toString('base64').slice(4, -6),
  Buffer.from(CONFIGURED).toString('hex'),
  '\\u0061\\u0063',
  b64(`{"sub":"a","pwd":"${CHOSEN}"}`),
]

/** Record, archive and explanation of what was sent, and of an answer that repeats all of it. */
function shownOf({ operation, url, headers, body }: Sent): string {
  const around = { clock: new SandboxClock(), settings: { name: 'Service' }, redactor: new Redactor([CONFIGURED]) }
  const log = new ExchangeLog({ ...around, maxExchanges: 9, maxBytes: 1e6, tenantOf: () => undefined })
  const live = log.open({ request_id: 'req_1', method: 'POST', url, headers, connection: 1, operation })
  if (body !== undefined) log.takeBody(live, body, body.length)
  const path = url.split('?', 1)[0] ?? ''
  const detail = `${path} is not served, nor is ${url.split('/').at(-1)}`
  live.refusal = { check: 'route', code: 'not_found', aspect: null, expected: null, came: path, detail }
  log.takeAnswer(live, 404, { 'content-type': 'application/json' }, { code: 'not_found', detail, instance: path })
  log.end(live, 'answered')
  const all = log.all()
  const told = all.map((exchange) => explainExchange(exchange).join('\n'))
  return JSON.stringify([all, harOf(all, { version: '1', baseUrl: 'http://x' }), told])
}

test('there are more spellings than the 179 that were tried from outside', () => {
  expect(new Set(SPELLINGS.map(([name]) => name)).size).toBeGreaterThan(179)
})

test.each(SPELLINGS)('no secret is shown: %s', (_, sent) => {
  const shown = shownOf(sent)
  for (const secret of NEVER) expect(shown.includes(secret) ? `${secret} in ${shown}` : '').toBe('')
})

test.each<[string, Sent, string[]]>([
  [
    'a deposit',
    deposit('{"portfolio_id": "jar_01JD7Z4Q3V6N8W5T2R9YHKXGBM", "amount_minor": "1000000"}'),
    ['{\\"portfolio_id\\": \\"jar_01JD7Z4Q3V6N8W5T2R9YHKXGBM\\", \\"amount_minor\\": \\"1000000\\"}'],
  ],
  [
    'a misspelled field',
    deposit('{"amountMinor":"1000000","amount":5}'),
    ['{\\"amountMinor\\":\\"1000000\\",\\"amount\\":5}'],
  ],
  ['a broken body', deposit('{"amount_minor":"1000000",'), ['{\\"amount_minor\\":\\"1000000\\",']],
  [
    'headers of HTTP',
    pools({
      headers: [
        'User-Agent',
        'curl/8.5.0',
        'Accept',
        '*/*',
        'traceparent',
        '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      ],
    }),
    ['curl/8.5.0', '*/*', '0af7651916cd43dd8448eb211c80319c'],
  ],
  ['a key', pools({ headers: ['Idempotency-Key', 'deposit-alice-2024-01'] }), ['deposit-alice-2024-01']],
  [
    'end users as partners name them',
    {
      operation: 'list_portfolios',
      url: '/v1/partner/end_users/Customer-550e8400-e29b-41d4-a716-446655440000/portfolios',
      headers: [],
    },
    ['Customer-550e8400-e29b-41d4-a716-446655440000'],
  ],
  [
    'a mistyped path',
    { operation: null, url: '/v2/partner/end_users/alice-7/portfolioz', headers: [] },
    ['/v2/partner/end_users/alice-7/portfolioz'],
  ],
  [
    'a token request',
    token(
      'grant_type=client_credentials&scope=api%3A%2F%2Fyield-sandbox%2F.default&client_id=5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e01',
    ),
    [
      'grant_type=client_credentials&scope=api%3A%2F%2Fyield-sandbox%2F.default&client_id=5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e01',
    ],
  ],
])('what the service names is shown as it is: %s', (_, sent, words) => {
  const shown = shownOf(sent)
  for (const word of words) expect(shown).toContain(word)
})

test('the same value is hidden by the same word, and another one by another', () => {
  const bodies = [CHOSEN, CHOSEN, `${CHOSEN}!`].map((note) => {
    const { result } = redactor.tracing(() => redactor.parameter('note', note))
    return result
  })
  expect(bodies[0]).toMatch(/^\[hidden [0-9a-f]{8}\]$/)
  expect([bodies[0] === bodies[1], bodies[0] === bodies[2]]).toEqual([true, false])
  expect(new Redactor([]).parameter('note', CHOSEN)).not.toBe(bodies[0])
})

const redactor = new Redactor([])
