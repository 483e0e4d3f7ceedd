import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner } from '../helpers/partner.ts'
import { userToken } from '../helpers/tokens.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await sandboxWith(({ tenants }) => {
    tenants[0]!.pools = ['aave-usdc', 'aave-weth', 'morpho-usdc']
  })
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

/** Creates a portfolio of alice with some fields of a good body replaced; undefined leaves one out. */
async function create(change: Record<string, unknown> = {}, poolId = 'aave-usdc', ask: Ask = {}): Promise<Answer> {
  return acme.post('end_users/alice/portfolios', { ...(await acme.portfolioBody(poolId)), ...change }, ask)
}

test('Endpoint 3: 201 with the flat portfolio, which is then in the list with zero funds', async () => {
  const { status, body } = await create({ name: 'Holidays', description: 'Sea' })
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { name: 'Holidays', description: 'Sea', protocol: 'aave', chain_id: '31337', token_symbol: 'USDC' },
  })
  expect(body).toMatchObject({ deposited: '0', yield_earned: '0', yield_earned_realized: '0', total_balance: '0' })
  const { data } = (await acme.get('end_users/alice/portfolios')).body
  expect(data.at(-1)).toMatchObject({ portfolio_id: body.portfolio_id, total_balance: '0' })
})

describe('Endpoint 3, body', () => {
  test.each([
    ['name of 1 character', { name: 'N' }],
    ['name of 50 characters', { name: 'N'.repeat(50) }],
    ['name of 50 characters beyond the basic plane', { name: '🌧'.repeat(50) }],
    ['description of 500 characters', { description: 'd'.repeat(500) }],
    ['no description', { description: undefined }],
    ['no protocol', { protocol: undefined }],
  ])('Endpoint 3: %s is accepted', async (_what, change) => {
    expect(outcome(await create(change))).toBe('201')
  })

  test.each([
    ['name', undefined],
    ['name', ''],
    ['name', 'N'.repeat(51)],
    ['name', 7],
    ['chain_id', undefined],
    ['chain_id', 'mainnet'],
    ['chain_id', '0x7a69'],
    ['chain_id', ''],
    ['chain_id', 31337],
    ['token_address', undefined],
    ['token_address', '0x123'],
    ['token_address', 'USDC'],
    ['market_address', undefined],
    ['market_address', `0x${'g'.repeat(40)}`],
    ['market_address', '5FbDB2315678afecb367f032d93F642f64180aa3'],
    ['protocol', 'compound'],
    ['protocol', 1],
    ['description', 'd'.repeat(501)],
    ['description', 5],
  ])('Endpoint 3, rule 2: %s as %j is 400 validation_error', async (field, value) => {
    const answer = await create({ [field]: value })
    expect(outcome(answer)).toBe('400 validation_error')
    expect(answer.body.param).toBe(field)
  })
})

describe('Endpoint 3, rule 1: a tuple that matches no pool of the tenant is 422 pool_not_found', () => {
  const elsewhere = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  test.each([
    ['another chain_id', { chain_id: '1' }],
    ['another token_address', { token_address: elsewhere }],
    ['another market_address', { market_address: elsewhere }],
    ['another protocol', { protocol: 'morpho' }],
  ])('%s', async (_what, change) => {
    expect(outcome(await create(change))).toBe('422 pool_not_found')
  })

  test("another tenant's pool", async () => {
    const globex = new Partner(sandbox, 'globex')
    const body = await globex.portfolioBody('morpho-weth')
    expect(outcome(await globex.post('end_users/bob/portfolios', body))).toBe('201')
    expect(outcome(await acme.post('end_users/alice/portfolios', body))).toBe('422 pool_not_found')
  })

  test('no protocol where the market is of the second', async () => {
    expect(outcome(await create({ protocol: undefined }, 'morpho-usdc'))).toBe('422 pool_not_found')
  })
})

test('Endpoint 3, rule 1: addresses match in any case', async () => {
  const { token_address, market_address } = await acme.portfolioBody('aave-usdc')
  const lower = { token_address: token_address!.toLowerCase(), market_address: market_address!.toLowerCase() }
  expect(await create(lower)).toMatchObject({ status: 201, body: { token_address, market_address } })
})

test('Endpoint 3, rule 3: a sub that differs from external_id is 403 sub_url_mismatch', async () => {
  expect(outcome(await create({}, 'aave-usdc', { user: 'bob' }))).toBe('403 sub_url_mismatch')
})

test('Endpoint 3, rule 4: an unknown end user is 404 end_user_not_found', async () => {
  const body = await acme.portfolioBody('aave-usdc')
  for (const externalId of ['nobody', 'bob']) {
    expect(outcome(await acme.post(`end_users/${externalId}/portfolios`, body))).toBe('404 end_user_not_found')
  }
})

test('Endpoint 3, rule 5: 401 token_missing, 401 invalid_idp_token, 401 invalid_user_token', async () => {
  const refused = (headers: Record<string, string | null>) => create({}, 'aave-usdc', { headers }).then(outcome)
  expect(await refused({ authorization: null })).toBe('401 token_missing')
  expect(await refused({ authorization: 'Bearer x' })).toBe('401 invalid_idp_token')
  const stale = await userToken(sandbox, { claims: { exp: 1_700_000_000 } })
  expect(await refused({ 'x-user-token': stale })).toBe('401 invalid_user_token')
})

test.each(['aave-usdc', 'morpho-usdc'])(
  'Endpoint 3, rule 6: token_address passed as market_address fails (%s)',
  async (poolId) => {
    const { token_address } = await acme.portfolioBody(poolId)
    expect(outcome(await create({ market_address: token_address }, poolId))).toBe('422 pool_not_found')
  },
)

test('Endpoint 3, headers: Idempotency-Key is required, a UUID v4, reused when retrying', async () => {
  expect(outcome(await create({}, 'aave-usdc', { key: null }))).toBe('400 idempotency_key_required')
  const key = crypto.randomUUID()
  const first = await create({}, 'aave-usdc', { key })
  const again = await create({}, 'aave-usdc', { key })
  expect(again.body).toEqual(first.body)
  expect((await create()).body.portfolio_id).not.toBe(first.body.portfolio_id)
})

test('Endpoint 3, headers: Content-Type is application/json', async () => {
  const body = JSON.stringify(await acme.portfolioBody('aave-usdc'))
  const type = (value: string) =>
    acme.ask('POST', 'end_users/alice/portfolios', { body, headers: { 'content-type': value } })
  expect((await type('text/plain')).status).toBe(415)
  expect((await type('application/json; charset=utf-8')).status).toBe(201)
})
