import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Ask, Partner } from '../helpers/partner.ts'
import { send } from '../http/raw-http.ts'
import { type OpenSandbox, openSandbox } from '../reliability/ledger.ts'

let open: OpenSandbox
let acme: Partner
let portfolio: string
beforeAll(async () => {
  open = await openSandbox({ fixtures: 'fixtures/default.yaml' })
  acme = open.acme
  portfolio = await acme.open('dan')
  await acme.userToken('dan')
})
afterAll(() => open.stop())
beforeEach(() => log().clear())

const log = () => open.sandbox.namespace.services.exchanges
const last = () => log().all().at(-1)
const anything = expect.any(String)

// One key that is registered nowhere takes longer to make than most tests: the sandbox's own serves both kinds of tokens.
const userToken = (wish: object) => open.control.userToken('dan', wish)
const seconds = (ahead: number) => Math.floor(Date.now() / 1000) + ahead

test.each([
  ['kid', { header: { kid: 'old' } }, expect.stringContaining('acme'), '"old"'],
  ['kid', { header: { kid: null } }, anything, 'none'],
  ['alg', { header: { alg: 'RS512' } }, '"RS256"', '"RS512"'],
  ['typ', { header: { typ: 'at+jwt' } }, '"JWT"', '"at+jwt"'],
  ['signature', { key: 'unknown' }, anything, 'made with another one'],
  ['iss', { claims: { iss: 'https://other.test' } }, anything, '"https://other.test"'],
  ['aud', { claims: { aud: 'other' } }, '"api://yield-sandbox"', '"other"'],
  ['exp', { claims: { exp: seconds(-100) } }, anything, expect.stringMatching(/Z, 1\d\d s ago$/)],
  ['nbf', { claims: { nbf: seconds(1_000) } }, anything, expect.stringMatching(/Z, \d{3,4} s ahead$/)],
  ['iat', { claims: { iat: seconds(1_000) } }, anything, expect.stringMatching(/Z, \d{3,4} s ahead$/)],
  ['exp', { claims: { exp: null } }, null, 'nothing'],
])('a user token with another %s', async (aspect, wish, expected, came) => {
  const headers = { 'x-user-token': await userToken(wish) }
  expect((await acme.get('end_users/dan/portfolios', { headers })).status).toBe(401)
  expect(last()!.refusal).toEqual({
    check: 'user_token',
    code: 'invalid_user_token',
    aspect,
    expected,
    came,
    detail: anything,
  })
})

const idpToken = async (wish: object, slug = 'acme') => {
  const url = `${acme.sandbox.baseUrl}/_sandbox/tenants/${slug}/idp_tokens`
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(wish) })
  return ((await answer.json()) as { token: string }).token
}
test.each([
  ['aud', { claims: { aud: 'api://other' } }, expect.stringContaining('api://yield-sandbox'), '"api://other"'],
  ['exp', { expires_in: -100 }, anything, expect.stringMatching(/Z, 1\d\d s ago$/)],
  ['signature', { key: 'unknown' }, anything, 'made with another one'],
  ['iss', { claims: { iss: 'https://other.test' } }, anything, '"https://other.test"'],
  ['appid', { claims: { appid: 'nobody' } }, 'the client_id of a tenant', '"nobody"'],
  ['tid', { claims: { tid: 'other' } }, anything, anything],
])('an identity-provider token with another %s', async (aspect, wish, expected, came) => {
  const headers = { authorization: `Bearer ${await idpToken(wish)}` }
  expect((await acme.get('pools', { headers })).status).toBe(401)
  expect(last()).toMatchObject({ refusal: { check: 'idp_token', aspect, expected, came } })
})

const get = (path: string, ask?: Ask) => () => acme.get(path, ask)
const fresh = () => acme.post('end_users/dan/deposit', { portfolio_id: portfolio, amount_minor: '1' })
const post = (path: string, body: unknown, ask?: Ask) => () => acme.post(path, body, ask)
const pool = async (other: object) =>
  acme.post('end_users/dan/portfolios', { ...(await acme.portfolioBody('aave-usdc')), ...other })
const deposit = (body: object, ask?: Ask) => () =>
  acme.post('end_users/dan/deposit', { portfolio_id: portfolio, amount_minor: '1', ...body }, ask)
const used = randomUUID()

test.each([
  ['no token', get('pools', { headers: { authorization: null } }), 'idp_token', 'Authorization', anything, anything],
  ['no JWT', get('pools', { headers: { authorization: 'Bearer x' } }), 'idp_token', 'token', anything, anything],
  ['no user token', get('end_users/dan/portfolios', { user: null }), 'user_token', 'X-User-Token', anything, 'nothing'],
  ['another end user', get('end_users/dan/portfolios', { user: 'eve' }), 'subject', 'sub', '"dan"', '"eve"'],
  ['no key', deposit({}, { key: null }), 'idempotency_key', 'Idempotency-Key', 'a UUID v4', 'nothing'],
  ['a counter as key', deposit({}, { key: '42' }), 'idempotency_key', 'Idempotency-Key', 'a UUID v4', '42'],
  [
    'a key with another body',
    async () => {
      await acme.deposit('dan', portfolio, '1', { key: used })
      return acme.deposit('dan', portfolio, '2', { key: used })
    },
    'idempotency_key',
    'Idempotency-Key',
    anything,
    anything,
  ],
  ['an amount as number', deposit({ amount_minor: 1 }), 'parameters', 'amount_minor', anything, 'the number 1'],
  ['no amount', deposit({ amount_minor: undefined }), 'parameters', 'amount_minor', null, 'nothing'],
  ['a limit', get('pools?limit=1e3'), 'parameters', 'limit', anything, '"1e3"'],
  ['broken JSON', post('end_users/dan/deposit', '{'), 'body', 'body', null, null],
  ['both cursors', get('pools?starting_after=a&ending_before=b'), 'parameters', 'ending_before', anything, 'both'],
  ['no cursor', get('pools?starting_after=a'), 'parameters', 'starting_after', anything, 'no cursor'],
  ['no market', () => pool({ market_address: undefined }), 'parameters', 'market_address', null, 'nothing'],
  ['a pool of another chain', () => pool({ chain_id: '99' }), 'operation', 'chain_id', '31337', '99'],
  ['too much money', deposit({ amount_minor: '9'.repeat(30) }), 'operation', 'amount_minor', null, null],
])('refused: %s', async (_, ask, check, aspect, expected, came) => {
  expect((await ask()).status).toBeGreaterThanOrEqual(400)
  expect(last()!.refusal).toMatchObject({ check, aspect, expected, came })
})

test('a cursor of another list, and one that has expired', async () => {
  await fresh()
  await fresh()
  const { next_cursor } = (await acme.get('end_users/dan/transactions?limit=1')).body
  await acme.get(`pools?starting_after=${next_cursor}`)
  const refusal = { check: 'parameters', code: 'cursor_invalid', aspect: 'starting_after' }
  expect(last()!.refusal).toMatchObject({ ...refusal, came: expect.stringMatching(/another list/) })
  open.sandbox.namespace.services.service.clock.advance(8 * 24 * 3_600_000)
  await acme.get(`end_users/dan/transactions?starting_after=${next_cursor}`)
  expect(last()!.refusal).toMatchObject({ code: 'cursor_expired', came: expect.stringMatching(/^issued at /) })
  const { began } = last()!
  expect(Date.parse(began.clock) - Date.parse(began.wall)).toBeGreaterThan(7 * 24 * 3_600_000)
})

test('a tenant without a role', async () => {
  const restricted = open.sandbox.namespace.fixture.tenants.find(({ tenant }) => tenant.access !== 'all')!.tenant
  const operation = (restricted.access as string[]).includes('list_pools') ? 'end_users/x/transactions' : 'pools'
  const headers = { authorization: `Bearer ${await idpToken({}, restricted.slug)}` }
  await acme.get(operation, { headers })
  expect(last()).toMatchObject({ tenant: restricted.slug, refusal: { check: 'role', aspect: 'roles' } })
})

const form = (fields: Record<string, string>) => {
  const { client_id, client_secret } = open.tenant
  const right = { grant_type: 'client_credentials', client_id, client_secret, scope: 'api://yield-sandbox/.default' }
  const body = new URLSearchParams({ ...right, ...fields })
  return fetch(acme.sandbox.authUrl, { method: 'POST', body })
}
test.each([
  ['client_id', { client_id: 'nobody' }, 'client_credentials', expect.stringMatching(/^\[hidden [0-9a-f]{8}\]$/)],
  ['client_secret', { client_secret: 'a-wrong-secret' }, 'client_credentials', 'another one'],
  ['scope', { scope: 'api://other/.default' }, 'parameters', 'api://other/.default'],
  ['grant_type', { grant_type: 'password' }, 'parameters', 'password'],
])('the token endpoint refuses another %s', async (aspect, fields, check, came) => {
  const answer = await form(fields)
  expect(answer.status).toBeGreaterThanOrEqual(400)
  const shown = last()!
  expect(shown).toMatchObject({ operation: 'token', refusal: { check, aspect, came }, end: 'answered' })
  expect(shown.request_id).toBe(answer.headers.get('x-service-request-id'))
  expect(shown.response).toMatchObject({
    status: answer.status,
    code: ((await answer.json()) as { error: string }).error,
  })
  expect(JSON.stringify(shown)).not.toContain('secret-')
  expect(JSON.stringify(shown)).not.toContain('a-wrong-secret')
})

test('the token endpoint takes forms only, by POST', async () => {
  const { baseUrl } = acme.sandbox
  const headers = { 'content-type': 'application/json' }
  await send(baseUrl, { method: 'POST', path: '/oauth2/token', headers, body: '{}' })
  expect(last()).toMatchObject({ operation: 'token', refusal: { check: 'body', aspect: 'Content-Type' } })
  await send(baseUrl, { path: '/oauth2/token' })
  expect(last()).toMatchObject({ operation: 'token', refusal: { check: 'route', aspect: 'method', came: 'GET' } })
})

test('a token that was issued: its claims and how long it lives, to whom', async () => {
  const { access_token } = (await (await form({})).json()) as { access_token: string }
  const fingerprint = createHash('sha256').update(access_token).digest('hex').slice(0, 12)
  expect(last()).toMatchObject({
    operation: 'token',
    tenant: 'acme',
    request: { client_id: open.tenant.client_id },
    response: { issued: { expires_in: 3600, token: { fingerprint, claims: { appid: open.tenant.client_id } } } },
    refusal: null,
  })
  await acme.get('pools', { headers: { authorization: `Bearer ${access_token}` } })
  expect(last()!.request.idp_token).toMatchObject({ fingerprint, header: { alg: 'RS256' } })
})

test('no answer carries what is for the record alone', async () => {
  const { body } = await acme.get('pools?limit=0')
  expect(Object.keys(body).sort()).toEqual(
    ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'param'].sort(),
  )
  const several = await acme.post('end_users/dan/deposit', { portfolio_id: 1, amount_minor: 1 })
  for (const fault of several.body.errors) expect(Object.keys(fault).sort()).toEqual(['detail', 'param'])
})
