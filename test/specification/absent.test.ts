import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { userToken } from '../helpers/tokens.ts'

/** What live services have and the specification does not: what a client gets instead. */

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

test.each([
  ['GET', '/v1/partner/end_users/alice'],
  ['DELETE', '/v1/partner/end_users/alice'],
  ['GET', '/v1/partner/end_users/alice/wallet-balance'],
  ['DELETE', '/v1/partner/end_users/alice/portfolios/jar_01JGX0Z5N8Q4R7T2V9W3Y6B1CD'],
  ['POST', '/v1/partner/end_users/alice/onramp-intents'],
  ['POST', '/v1/partner/end_users/alice/offramp-intents'],
  ['GET', '/api/v1/partner/pools'],
])('Absent: %s %s is 404 not_found', async (method, path) => {
  const headers = { authorization: `Bearer ${await acme.idpToken()}`, 'x-user-token': await acme.userToken('alice') }
  const response = await fetch(`${sandbox.baseUrl}${path}`, { method, headers })
  expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })])
})

test('Absent: transactions have two types and no rates', async () => {
  const portfolio = await acme.open('ann')
  await acme.deposit('ann', portfolio, '1000000')
  await sandbox.clock.advance(365 * 24 * 60 * 60 * 1000)
  await acme.withdraw('ann', portfolio, '500000')
  const { data } = (await acme.get('end_users/ann/transactions')).body
  expect(data.map(({ type }: { type: string }) => type)).toEqual(['withdrawal', 'deposit'])
  for (const record of data) {
    expect(Object.keys(record)).not.toContain('fx_rate_usd')
    expect(Object.keys(record)).not.toContain('aave_apy')
  }
})

test('Behaviour error-docs: errors have no doc_url, and a type that is no address', async () => {
  const { body } = await acme.get('pools?limit=0')
  expect([body.doc_url, body.type]).toEqual([undefined, 'urn:yield-partner-api:error:validation_error'])
})

test('Behaviour whole-tokens: details of errors speak of minor units', async () => {
  const refused = await acme.deposit('alice', await acme.open('alice'), '9'.repeat(30))
  expect([outcome(refused), refused.body.detail]).toEqual([
    '422 insufficient_balance',
    expect.stringContaining('minor units'),
  ])
})

test('Behaviour user-token-codes: a wrong issuer and a token of another tenant are invalid_user_token', async () => {
  const list = async (token: string) =>
    outcome(await acme.get('end_users/alice/portfolios', { headers: { 'x-user-token': token } }))
  expect(await list(await userToken(sandbox, { claims: { iss: 'https://else.example' } }))).toBe(
    '401 invalid_user_token',
  )
  expect(await list(await sandbox.userToken('alice', { tenant: 'globex' }))).toBe('401 invalid_user_token')
})

test('Behaviour other-ids: tenant_id is a UUID, and pool ids are those of the fixture', async () => {
  const { tenant_id } = (await acme.post('end_users', { external_id: 'uma' })).body
  expect(tenant_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const { data } = (await acme.get('pools')).body
  expect(data.map(({ pool_id }: { pool_id: string }) => pool_id)).toContain('aave-usdc')
})

test('Behaviour live-chains: the chain is 31337, with USDC and WETH', async () => {
  const { data } = (await acme.get('pools')).body
  const seen = data.map(({ chain_id, token_symbol }: Record<string, string>) => `${chain_id} ${token_symbol}`)
  expect(new Set(seen)).toEqual(new Set(['31337 USDC', '31337 WETH']))
})
