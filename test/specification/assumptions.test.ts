import { readFileSync } from 'node:fs'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Ask, Partner, testNamespace } from '../helpers/partner.ts'
import { ADDRESS, TIMESTAMP, ULID } from '../helpers/patterns.ts'
import { idpToken } from '../helpers/tokens.ts'
import { ASSUMPTIONS } from './assumption-table.ts'

let sandbox: SandboxHandle
/** Everything this file looks at that can be switched, switched. */
let switched: SandboxHandle
let acme: Partner
let other: Partner
beforeAll(async () => {
  ;[sandbox, switched] = await Promise.all([testNamespace(), sandboxWith(switchAll)])
  acme = new Partner(sandbox)
  other = new Partner(switched)
})
afterAll(() => Promise.all([sandbox.stop(), switched.stop()]))

function switchAll(fixture: FixtureFile): void {
  fixture.service = {
    name: 'Acme',
    protocols: ['lend', 'vault'],
    audience: 'api://acme',
    error_body: 'code_only',
    end_user_jwt: 'required',
  }
  for (const pool of fixture.pools) pool.protocol = pool.protocol === 'aave' ? 'lend' : 'vault'
}

const control = async (of: SandboxHandle) =>
  (await (await fetch(`${of.controlUrl}/assumptions`)).json()) as {
    id: string
    setting?: { name: string; active: unknown }
  }[]
const portfolio = async (partner: Partner, change: object = {}, poolId = 'aave-usdc', ask?: Ask) =>
  partner.post('end_users/alice/portfolios', { ...(await partner.portfolioBody(poolId)), ...change }, ask)

test('Assumptions: GET /_sandbox/assumptions lists exactly the open points, with their settings', async () => {
  const listed = await control(sandbox)
  expect(Object.fromEntries(listed.map(({ id, setting }) => [id, setting?.name]))).toEqual(ASSUMPTIONS)
  expect(listed).toHaveLength(Object.keys(ASSUMPTIONS).length)
})

test('Assumptions: GET /_sandbox/assumptions shows what is active', async () => {
  const active = Object.fromEntries((await control(switched)).map(({ id, setting }) => [id, setting?.active]))
  expect(active).toMatchObject({ brand: 'Acme', 'protocol-names': ['lend', 'vault'], 'error-body': 'code_only' })
  expect(active).toMatchObject({ 'transfer-status': 200, 'create-end-user': 'required' })
})

test('Assumptions: each has a test named by its id', () => {
  const files = [
    'assumptions',
    'assumptions-tokens',
    'assumptions-money',
    'assumptions-withdraw-all',
    'assumptions-idempotency',
    'error-precedence',
  ]
  const text = files.map((file) => readFileSync(new URL(`${file}.test.ts`, import.meta.url), 'utf8')).join('\n')
  const named = new Set([...text.matchAll(/['"]Assumption ([a-z-]+):/g)].map(([, id]) => id))
  expect([...named].sort()).toEqual(Object.keys(ASSUMPTIONS).sort())
})

test('Assumption brand: X-Service-…, or the name that is set', async () => {
  const names = async (partner: Partner) =>
    [...(await partner.get('pools')).headers.keys()].filter((name) => /api-version|request-id/.test(name)).sort()
  expect(await names(acme)).toEqual(['x-service-api-version', 'x-service-request-id'])
  expect(await names(other)).toEqual(['x-acme-api-version', 'x-acme-request-id'])
})

test('Assumption protocol-names: aave (the default) and morpho, or the two that are set', async () => {
  const protocols = async (partner: Partner) =>
    (await partner.get('pools')).body.data.map(({ protocol }: { protocol: string }) => protocol)
  expect(await protocols(acme)).toEqual(['aave', 'aave', 'morpho', 'morpho'])
  expect(await protocols(other)).toEqual(['lend', 'lend', 'vault', 'vault'])
  expect((await portfolio(acme, { protocol: undefined })).body.protocol).toBe('aave')
  expect((await portfolio(other, { protocol: undefined })).body.protocol).toBe('lend')
  expect(outcome(await portfolio(other, { protocol: 'aave' }))).toBe('400 validation_error')
})

test('Assumption audience: api://yield-sandbox, or the one that is set, in both tokens', async () => {
  const audiences = async (partner: Partner) =>
    [await partner.idpToken(), await partner.userToken('alice')].map((token) => decodeJwt(token).aud)
  expect(await audiences(acme)).toEqual(['api://yield-sandbox', 'api://yield-sandbox'])
  expect(await audiences(other)).toEqual(['api://acme', 'api://acme'])
  const foreign = await idpToken(switched, { aud: 'api://yield-sandbox' })
  expect(outcome(await other.get('pools', { headers: { authorization: `Bearer ${foreign}` } }))).toBe(
    '401 invalid_idp_token',
  )
})

test('Assumption error-body: RFC 9457 with code, request_id, param and errors, or the code alone', async () => {
  const problem = await acme.get('pools?limit=0')
  expect(problem.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(problem.body).toEqual({
    ...{ type: expect.any(String), title: expect.any(String), status: 400, detail: expect.any(String) },
    ...{ instance: '/v1/partner/pools', code: 'validation_error', param: 'limit' },
    request_id: problem.headers.get('X-Service-Request-Id'),
  })
  const { errors } = (await portfolio(acme, { name: '', chain_id: 'x' })).body
  expect(errors.map(({ param }: { param: string }) => param).sort()).toEqual(['chain_id', 'name'])
  expect(errors[0].detail).toMatch(/./)

  const transfer = { portfolio_id: null, amount_minor: '0' }
  const both = (await acme.post('end_users/alice/deposit', transfer)).body.errors
  expect(both.map(({ param }: { param: string }) => param).sort()).toEqual(['amount_minor', 'portfolio_id'])

  const bare = await other.get('pools?limit=0')
  expect([bare.headers.get('content-type'), bare.body]).toEqual([
    expect.stringMatching(/^application\/json/),
    { code: 'validation_error' },
  ])
})

test('Assumption create-end-user: external_id makes an end user, a known one is given again', async () => {
  const create = (body: object, ask: Ask = {}) => acme.post('end_users', body, { key: null, ...ask })
  const created = await create({ external_id: 'eve' })
  expect(created).toMatchObject({
    status: 201,
    body: {
      ...{ id: expect.stringMatching(new RegExp(`^usr_${ULID}$`)), external_id: 'eve', user_source: 'partner' },
      ...{ tenant_id: sandbox.tenants[0]!.tenant_id, tenant_slug: 'acme' },
      ...{ wallet_address: expect.stringMatching(ADDRESS), created_at: expect.stringMatching(TIMESTAMP) },
    },
  })
  expect(Object.keys(created.body)).toHaveLength(7)
  expect(await create({ external_id: 'eve' })).toMatchObject({ status: 201, body: created.body })

  expect(outcome(await create({ external_id: 'aZ09-_.'.padEnd(128, 'x') }))).toBe('201')
  for (const external_id of ['', 'a b', 'a/b', 'é', 'x'.repeat(129), 7, undefined]) {
    expect(outcome(await create({ external_id }))).toBe('400 validation_error')
  }
  const jwt = await acme.userToken('fay')
  expect(outcome(await create({ external_id: 'fay', user_jwt: jwt }))).toBe('201')
  expect(outcome(await create({ external_id: 'gil', user_jwt: jwt }))).toBe('403 sub_url_mismatch')
  const forged = await create({ external_id: 'gil', user_jwt: 'x' })
  expect([outcome(forged), forged.body.param]).toEqual(['401 invalid_user_token', 'user_jwt'])
  expect(outcome(await acme.get('end_users/gil/portfolios'))).toBe('404 end_user_not_found')

  const key = crypto.randomUUID()
  const keyed = await create({ external_id: 'hal' }, { key })
  expect((await create({ external_id: 'hal' }, { key })).body).toEqual(keyed.body)
  expect(outcome(await create({ external_id: 'hal2' }, { key }))).toBe(
    '422 idempotency_key_in_use_with_different_params',
  )
})

test('Assumption create-end-user: external_id is what service.external_ids says', async () => {
  await using mail = await sandboxWith((fixture) => {
    fixture.service = { external_ids: '^[A-Za-z0-9_][A-Za-z0-9_.%+@-]*$' }
    fixture.tenants[0]!.end_users = [{ external_id: 'ann@example.com' }]
  })
  const partner = new Partner(mail)
  expect((await partner.get('end_users/ann%40example.com/portfolios')).body.data).toEqual([])
  expect(await partner.post('end_users', { external_id: 'bob+1@example.com' })).toMatchObject({
    status: 201,
    body: { external_id: 'bob+1@example.com' },
  })
  const body = await partner.portfolioBody('aave-usdc')
  const { portfolio_id } = (await partner.post('end_users/bob%2B1%40example.com/portfolios', body)).body
  const deposit = { portfolio_id, amount_minor: '1000000' }
  expect(outcome(await partner.post('end_users/bob%2B1%40example.com/deposit', deposit))).toBe('200')
  const refused = await partner.post('end_users', { external_id: 'a b' })
  expect([outcome(refused), refused.body.param]).toEqual(['400 validation_error', 'external_id'])
  expect(refused.body.detail).toContain('(service.external_ids)')
  for (const pattern of ['^.*$', '^[a-z.]+$', '^($']) {
    const started = sandboxWith((fixture) => {
      fixture.service = { external_ids: pattern }
    })
    await expect(started).rejects.toThrow(/service\.external_ids: (matches|is not a regular expression)/)
  }
})

test('Assumption create-end-user: user_jwt is required when so set', async () => {
  expect(outcome(await other.post('end_users', { external_id: 'eve' }))).toBe('400 validation_error')
  const user_jwt = await other.userToken('eve')
  expect(outcome(await other.post('end_users', { external_id: 'eve', user_jwt }))).toBe('201')
})

test('Assumption ids: ULIDs behind jar_, usr_, txn_ and req_', async () => {
  const created = await portfolio(acme)
  const { body } = await acme.deposit('alice', created.body.portfolio_id, '1000')
  const ids = [created.body.portfolio_id, body.transaction_id, created.headers.get('X-Service-Request-Id')]
  const prefixes = ['jar', 'txn', 'req']
  expect(ids).toEqual(prefixes.map((prefix) => expect.stringMatching(new RegExp(`^${prefix}_${ULID}$`))))
})

test('Assumption list-portfolio-fields: those of the create response, and four more', async () => {
  const { token_address, token_symbol, token_decimals, ...shared } = (await portfolio(acme, {}, 'morpho-weth')).body
  const item = (await acme.get('end_users/alice/portfolios?limit=100')).body.data.at(-1)
  expect(item).toEqual({
    ...shared,
    token: { symbol: token_symbol, address: token_address, decimals: token_decimals },
    apy_snapshot: Number((await acme.pool('morpho-weth')).apy),
    total_gross_yield_earned: '0',
    total_fees_paid: '0',
    last_synced_at: expect.stringMatching(TIMESTAMP),
  })
})

test('Assumption list-order: pools by pool_id, portfolios oldest first', async () => {
  const pools = (await acme.get('pools')).body.data.map(({ pool_id }: { pool_id: string }) => pool_id)
  expect(pools).toEqual(pools.toSorted())
  await acme.post('end_users', { external_id: 'ola' })
  const created: string[] = []
  for (const name of ['c', 'a', 'b']) created.push(await acme.open('ola', 'aave-usdc', name))
  const { data } = (await acme.get('end_users/ola/portfolios')).body
  expect(data.map(({ portfolio_id }: { portfolio_id: string }) => portfolio_id)).toEqual(created)
})

test('Assumption has-more: true exactly when next_cursor is not null, backward too', async () => {
  const page = async (query: string) => (await acme.get(`pools?limit=2${query}`)).body
  const first = await page('')
  const last = await page(`&starting_after=${first.next_cursor}`)
  const back = await page(`&ending_before=${last.prev_cursor}`)
  expect([first, last, back].map(({ has_more }) => has_more)).toEqual([true, false, true])
  expect([first, last, back].map(({ next_cursor }) => next_cursor !== null)).toEqual([true, false, true])
  expect(back.prev_cursor).toBeNull()
})

test('Assumption limit-invalid: 400 validation_error, param limit', async () => {
  for (const limit of ['0', '101', '-1', '1.5', '1e1', '0x10', 'ten', '', ' 1', '99999999999999999999', '1&limit=2']) {
    const { status, body } = await acme.get(`pools?limit=${limit}`)
    expect([limit, status, body.code, body.param]).toEqual([limit, 400, 'validation_error', 'limit'])
  }
})

test('Assumption cursor-scope: a genuine cursor of another list, tenant or end user is 400 cursor_invalid', async () => {
  for (const user of ['cam', 'kay']) for (let i = 0; i < 2; i++) await acme.open(user)
  const next = async (partner: Partner, path: string) => (await partner.get(`${path}?limit=1`)).body.next_cursor
  const [pools, portfolios] = [await next(acme, 'pools'), await next(acme, 'end_users/cam/portfolios')]
  const use = (path: string, cursor: string) => acme.get(`${path}?starting_after=${cursor}`).then(outcome)
  expect(await use('end_users/cam/portfolios', portfolios)).toBe('200')
  const foreign = await next(new Partner(sandbox, 'globex'), 'pools')
  expect([
    await use('end_users/kay/portfolios', portfolios),
    await use('end_users/cam/transactions', portfolios),
    await use('end_users/cam/portfolios', pools),
    await use('pools', portfolios),
    await use('pools', foreign),
  ]).toEqual(Array(5).fill('400 cursor_invalid'))
})

test('Assumption unknown-route: 404 not_found, 405 method_not_allowed with Allow', async () => {
  expect(outcome(await acme.get('poools'))).toBe('404 not_found')
  const refused = await acme.ask('POST', 'pools', { body: {} })
  expect([outcome(refused), refused.headers.get('allow')]).toEqual(['405 method_not_allowed', 'GET, HEAD'])
  const both = await fetch(`${sandbox.baseUrl}/v1/partner/end_users/alice/portfolios`, { method: 'PUT' })
  expect([both.status, both.headers.get('allow')?.split(', ').sort()]).toEqual([405, ['GET', 'HEAD', 'POST']])
})

test('Assumption body-limits: 413 over 100 KiB, 400 for malformed JSON, 415 for another type', async () => {
  const send = (body: string, type = 'application/json') =>
    acme.ask('POST', 'end_users', { body, headers: { 'content-type': type } }).then(outcome)
  const sized = (bytes: number) =>
    JSON.stringify({ external_id: 'max', pad: '' }).replace('""', `"${'x'.repeat(bytes - 30)}"`)
  expect(sized(102_400)).toHaveLength(102_400)
  expect(await send(sized(102_400))).toBe('201')
  expect(await send(sized(102_401))).toBe('413 payload_too_large')
  for (const body of ['{', '', 'null', '[]', '"x"', '{"external_id":"a",}'])
    expect(await send(body)).toBe('400 validation_error')
  expect(await send('external_id=a', 'application/x-www-form-urlencoded')).toBe('415 unsupported_media_type')
})

test('Assumption rate-limit: there is none, but a fault can answer 429 rate_limited with Retry-After', async () => {
  const answers = await Promise.all(Array.from({ length: 300 }, () => acme.get('pools')))
  expect(new Set(answers.map(outcome))).toEqual(new Set(['200']))
  await sandbox.faults.add({
    kind: 'error',
    match: { operation: 'list_pools' },
    with: { code: 'rate_limited', retry_after: 7 },
  })
  const limited = await acme.get('pools')
  expect([outcome(limited), limited.headers.get('retry-after')]).toEqual(['429 rate_limited', '7'])
  expect(outcome(await acme.get('pools'))).toBe('200')
})

test('Assumptions, clocks: moving business time does not expire tokens', async () => {
  await acme.get('end_users/alice/portfolios')
  const before = (await portfolio(acme)).body.created_at
  await sandbox.clock.advance(30 * 24 * 60 * 60 * 1000)
  expect(outcome(await acme.get('end_users/alice/portfolios'))).toBe('200')
  expect(Date.parse((await portfolio(acme)).body.created_at) - Date.parse(before)).toBeGreaterThanOrEqual(2_592_000_000)
})
