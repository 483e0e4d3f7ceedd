import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROFILES } from '../../src/domain/service-settings.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { userToken } from '../helpers/tokens.ts'
import type { OpenApiDocument } from '../http/described-answers.ts'

/** The profile of live documentation: the tour of a partner, and what differs on it. */

const AAVE = 'pool_aave_base_usdc'
const fixtures = fileURLToPath(new URL('../../fixtures/live-like.yaml', import.meta.url))
const opaque = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url')

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testSandbox({ fixtures })
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const create = async (external_id: string, key: string | null = opaque()) =>
  acme.post('end_users', { external_id, user_jwt: await acme.userToken(external_id) }, { key })
const codeOf = async (token: string) =>
  outcome(await acme.get('end_users/alice/portfolios', { headers: { 'x-user-token': token } }))

test('Live-like: a partner walks the whole tour, with opaque keys', async () => {
  expect(outcome(await create('ann'))).toBe('201')
  const body = await acme.portfolioBody(AAVE)
  const made = await acme.post('end_users/ann/portfolios', body, { key: opaque() })
  expect(outcome(made)).toBe('201')
  const { portfolio_id } = made.body
  const key = opaque()
  const deposited = await acme.deposit('ann', portfolio_id, '1000000', { key })
  expect(deposited).toMatchObject({ status: 200, body: { deposited: '1000000' } })
  const again = await acme.deposit('ann', portfolio_id, '1000000', { key })
  expect(again.body).toEqual(deposited.body)
  expect(again.headers.get('idempotency-key-replay')).toBe('true')
  await sandbox.clock.advance(30 * 86_400_000)
  const [shown] = (await acme.get('end_users/ann/portfolios')).body.data
  expect(BigInt(shown.yield_earned)).toBeGreaterThan(0n)
  const emptied = await acme.withdraw('ann', portfolio_id, shown.total_balance, { key: opaque() })
  expect(emptied).toMatchObject({ status: 200, body: { total_balance: '0' } })
  const { data } = (await acme.get('end_users/ann/transactions')).body
  expect(data.map(({ type }: { type: string }) => type)).toEqual(['withdrawal', 'yield_harvest', 'deposit'])
})

test.each([
  ['aave', AAVE],
  ['morpho', 'pool_morpho_base_usdc'],
])('Live-like: yield earned up to a transfer is a record of its own, of %s', async (protocol, poolId) => {
  const user = `yve-${protocol}`
  await create(user)
  const { portfolio_id } = (await acme.post(`end_users/${user}/portfolios`, await acme.portfolioBody(poolId))).body
  await sandbox.clock.freeze()
  const first = (await acme.deposit(user, portfolio_id, '1000000000')).body
  await sandbox.clock.advance(30 * 86_400_000)
  const { apy } = await acme.pool(poolId)
  const [shown] = (await acme.get(`end_users/${user}/portfolios`)).body.data
  const second = (await acme.withdraw(user, portfolio_id, '400000000')).body
  await sandbox.clock.unfreeze()
  const { data } = (await acme.get(`end_users/${user}/transactions`)).body
  const [withdrawal, harvest, deposit] = data
  const earned = (BigInt(shown.yield_earned) - BigInt(first.yield_earned)).toString()
  expect(harvest).toEqual({
    ...withdrawal,
    ...{ id: expect.stringMatching(/^txn_/), type: 'yield_harvest', amount_changed: earned, yield_delta: earned },
    ...{ deposited_amount_before: '1000000000', deposited_amount_after: '1000000000' },
    ...{ yield_earned_before: first.yield_earned, yield_earned_after: shown.yield_earned },
    ...{ fx_rate_usd: '1.00', aave_apy: protocol === 'aave' ? apy : null },
  })
  expect(withdrawal).toMatchObject({ id: second.transaction_id, yield_earned_before: shown.yield_earned })
  expect(withdrawal.yield_earned_after).toBe(second.yield_earned)
  expect(Math.abs(Number(withdrawal.yield_delta))).toBeLessThanOrEqual(2)
  expect(deposit.id).toBe(first.transaction_id)
  for (const record of [withdrawal, deposit]) expect(Object.keys(record)).not.toContain('aave_apy')
  expect(await walked(user, 'starting_after')).toEqual(data)
  expect(await walked(user, 'ending_before')).toEqual(data.slice(0, -1))
})

/** The transactions page by page, one each: from the first on, or back from the last one. */
async function walked(user: string, way: 'starting_after' | 'ending_before'): Promise<unknown[]> {
  const page = async (query: string) => (await acme.get(`end_users/${user}/transactions?limit=1${query}`)).body
  const found: unknown[] = []
  let { data, next_cursor, prev_cursor } = await page('')
  if (way === 'ending_before') {
    while (next_cursor) ({ next_cursor, prev_cursor } = await page(`&starting_after=${next_cursor}`))
    ;({ data, prev_cursor } = await page(`&ending_before=${prev_cursor}`))
  }
  for (;;) {
    if (way === 'starting_after') found.push(...data)
    else found.unshift(...data)
    const cursor = way === 'starting_after' ? next_cursor : prev_cursor
    if (!cursor) return found
    ;({ data, next_cursor, prev_cursor } = await page(`&${way}=${cursor}`))
  }
}

test('Live-like: the case of an opaque key counts', async () => {
  await create('cas')
  const { body } = await acme.post('end_users/cas/portfolios', await acme.portfolioBody(AAVE))
  const first = await acme.deposit('cas', body.portfolio_id, '1000', { key: 'abcdefghijklmnop' })
  const other = await acme.deposit('cas', body.portfolio_id, '1000', { key: 'ABCDEFGHIJKLMNOP' })
  expect(other.body.tx_hash).not.toBe(first.body.tx_hash)
  for (const key of ['fifteen-letters', 'a'.repeat(256), 'with a space in it']) {
    const refused = await acme.deposit('cas', body.portfolio_id, '1000', { key })
    expect([outcome(refused), refused.body.param]).toEqual(['400 validation_error', 'Idempotency-Key'])
    expect(refused.body.detail).toContain('16 to 255 printable characters')
  }
})

test('Live-like: create end user requires user_jwt and a key', async () => {
  expect(outcome(await create('bea', null))).toBe('400 idempotency_key_required')
  const bare = await acme.post('end_users', { external_id: 'bea' }, { key: opaque() })
  expect([outcome(bare), bare.body.param]).toEqual(['400 validation_error', 'user_jwt'])
})

test('Live-like: a wrong issuer and another tenant have codes of their own', async () => {
  const foreign = await userToken(sandbox, { claims: { iss: 'https://else.example' } })
  expect(await codeOf(foreign)).toBe('401 unknown_partner_issuer')
  expect(await codeOf(await sandbox.userToken('alice', { tenant: 'globex' }))).toBe('401 cross_tenant_jwt')
  expect(await codeOf(await userToken(sandbox, { claims: { aud: 'api://else' } }))).toBe('401 invalid_user_token')
  expect(await codeOf('no token')).toBe('401 invalid_user_token')
  const { headers } = await acme.get('end_users/alice/portfolios', { headers: { 'x-user-token': foreign } })
  expect(headers.get('www-authenticate')).toContain('realm="user-token"')
})

test('Live-like: the scope has two forms, and the token the same', async () => {
  const { client_id, client_secret } = sandbox.tenants.find(({ slug }) => slug === 'acme')!
  const ask = async (scope: string) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
    return (await fetch(sandbox.authUrl, { method: 'POST', body })).json() as Promise<Record<string, string>>
  }
  const list = async (authorization: string) => (await acme.get('pools', { headers: { authorization } })).status
  for (const audience of ['api://yield-sandbox', 'yield-sandbox']) {
    const { access_token } = await ask(`${audience}/.default`)
    expect(decodeJwt(access_token!).aud).toBe(audience)
    expect(await list(`Bearer ${access_token}`)).toBe(200)
  }
  expect(await ask('sandbox/.default')).toEqual({
    error: 'invalid_scope',
    error_description: 'scope must be api://yield-sandbox/.default or yield-sandbox/.default',
  })
  const token = await sandbox.idpToken({ claims: { aud: 'sandbox' } })
  const refused = await acme.get('pools', { headers: { authorization: `Bearer ${token}` } })
  expect([outcome(refused), refused.body.detail]).toEqual([
    '401 invalid_idp_token',
    expect.stringContaining('expected "api://yield-sandbox" or "yield-sandbox"'),
  ])
  const discovery = await fetch(new URL('/.well-known/openid-configuration', sandbox.baseUrl))
  expect(await discovery.json()).toMatchObject({
    scopes_supported: ['api://yield-sandbox/.default', 'yield-sandbox/.default'],
  })
})

test('Live-like: errors say where they are described', async () => {
  const { body } = await acme.get('pools?limit=0')
  const url = 'https://docs.example.com/errors/validation_error'
  expect(body).toMatchObject({ code: 'validation_error', type: url, doc_url: url })
  await sandbox.faults.add({ kind: 'unknown_values', with: { what: 'error_code' } })
  expect((await acme.get('pools?limit=0')).body).toMatchObject({
    code: 'validation_error_unspecified',
    type: 'https://docs.example.com/errors/validation_error_unspecified',
  })
})

test('Live-like: details of errors speak of whole tokens', async () => {
  await create('tom')
  const { body } = await acme.post('end_users/tom/portfolios', await acme.portfolioBody(AAVE))
  const refusal = async (operation: 'deposit' | 'withdraw', amount: string) => {
    const refused = await acme[operation]('tom', body.portfolio_id, amount)
    return [outcome(refused), refused.body.detail]
  }
  expect(await refusal('deposit', '1000000000001')).toEqual([
    '422 insufficient_balance',
    'The wallet holds 1000000 USDC, less than amount_minor asks for.',
  ])
  await sandbox.clock.freeze()
  const { total_balance } = (await acme.deposit('tom', body.portfolio_id, '2500000')).body
  const [outcomeOfMore, detail] = await refusal('withdraw', '3000000')
  await sandbox.clock.unfreeze()
  expect(outcomeOfMore).toBe('422 insufficient_balance')
  const worth = (Number(total_balance) / 1e6).toString()
  expect(detail).toBe(`The position holds ${worth} USDC, less than amount_minor asks for.`)
})

test('Live-like: chain 84532, USDC alone, ids of other forms', async () => {
  const { data } = (await acme.get('pools')).body
  expect(data).toMatchObject([
    { pool_id: AAVE, chain_id: '84532', token_symbol: 'USDC' },
    { pool_id: 'pool_morpho_base_usdc', chain_id: '84532', token_symbol: 'USDC' },
  ])
  expect((await create('uma')).body.tenant_id).toMatch(/^tnt_[0-9A-Z]{26}$/)
})

test('Live-like: a setting that is given wins over the profile', async () => {
  await using other = await sandboxWith((fixture) => {
    fixture.service = { profile: 'live-like', end_user_jwt: 'optional', error_docs: 'none' }
  })
  const partner = new Partner(other)
  expect(outcome(await partner.post('end_users', { external_id: 'eve' }))).toBe('201')
  expect(outcome(await partner.post('end_users', { external_id: 'eve' }, { key: null }))).toBe(
    '400 idempotency_key_required',
  )
  expect((await partner.get('pools?limit=0')).body.doc_url).toBeUndefined()
})

test('Live-like: docs/fixtures.md has every setting of the profile', async () => {
  const page = await readFile(new URL('../../docs/fixtures.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(\w+)` +\| `(\S+)` +\| `(\S+)` +\|$/gm)
  const table = [...rows].map(([, ...cells]) => cells.map((cell) => cell.replace('""', '')))
  const { specification, 'live-like': live } = PROFILES
  const settings = Object.keys(specification) as (keyof typeof specification)[]
  const different = settings.filter((name) => specification[name] !== live[name])
  expect(table).toEqual(different.map((name) => [name, specification[name], live[name]]))
})

test('Live-like: the description asks for a key of that form when an end user is created', async () => {
  const document = (await (await fetch(new URL('/openapi.json', sandbox.baseUrl))).json()) as OpenApiDocument
  const { parameters } = document.paths['/v1/partner/end_users']!.post!
  expect(parameters).toMatchObject([
    { name: 'Idempotency-Key', required: true, schema: { pattern: '^[!-~]{16,255}$' } },
  ])
})
