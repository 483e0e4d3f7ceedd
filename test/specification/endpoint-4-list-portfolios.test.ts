import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const PATH = 'end_users/paula/portfolios'
let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  await acme.post('end_users', { external_id: 'paula' })
  const body = await acme.portfolioBody('morpho-usdc')
  await Promise.all(Array.from({ length: 101 }, () => acme.post(PATH, body)))
})
afterAll(() => sandbox.stop())

test('Endpoint 4: 200 with the envelope and items in the list shape', async () => {
  const { status, body } = await acme.get(PATH)
  expect({ status, body }).toMatchObject({ status: 200, body: { has_more: true, prev_cursor: null } })
  for (const item of body.data) {
    expect(item.token).toEqual({ symbol: 'USDC', address: expect.stringMatching(/^0x/), decimals: 6 })
    expect(item).not.toHaveProperty('token_address')
  }
})

test("Endpoint 4: lists the end user's own portfolios only", async () => {
  const own = (await acme.get('end_users/alice/portfolios')).body.data
  expect(own).toMatchObject([{ name: 'Rainy day', deposited: '2500000000' }])
})

test('Endpoint 4: balances are read from the chain and grow with time', async () => {
  const balance = async () => BigInt((await acme.get('end_users/alice/portfolios')).body.data[0].total_balance)
  const before = await balance()
  await sandbox.clock.advance(24 * 60 * 60 * 1000)
  expect(await balance()).toBeGreaterThan(before)
})

test('Endpoint 4: limit defaults to 25, maximum 100', async () => {
  expect((await acme.get(PATH)).body.data).toHaveLength(25)
  expect((await acme.get(`${PATH}?limit=100`)).body.data).toHaveLength(100)
  expect((await acme.get(`${PATH}?limit=101`)).status).toBe(400)
})

test('Endpoint 4: starting_after and ending_before page forward and backward', async () => {
  const ids = (page: { data: { portfolio_id: string }[] }) => page.data.map(({ portfolio_id }) => portfolio_id)
  const first = (await acme.get(`${PATH}?limit=60`)).body
  const second = (await acme.get(`${PATH}?limit=60&starting_after=${first.next_cursor}`)).body
  expect(new Set([...ids(first), ...ids(second)]).size).toBe(101)
  expect(second).toMatchObject({ has_more: false, next_cursor: null })
  const back = (await acme.get(`${PATH}?limit=60&ending_before=${second.prev_cursor}`)).body
  expect(ids(back)).toEqual(ids(first))
})

test('Endpoint 4: both cursors are refused', async () => {
  const { next_cursor } = (await acme.get(PATH)).body
  const both = `${PATH}?starting_after=${next_cursor}&ending_before=${next_cursor}`
  expect(outcome(await acme.get(both))).toBe('400 conflicting_cursors')
})

test('Endpoint 4: needs Authorization and X-User-Token of that end user', async () => {
  expect(outcome(await acme.get(PATH, { headers: { authorization: null } }))).toBe('401 token_missing')
  expect(outcome(await acme.get(PATH, { user: null }))).toBe('401 invalid_user_token')
  expect(outcome(await acme.get(PATH, { user: 'alice' }))).toBe('403 sub_url_mismatch')
})

test('Endpoint 4: an unknown end user is 404 end_user_not_found', async () => {
  expect(outcome(await acme.get('end_users/nobody/portfolios'))).toBe('404 end_user_not_found')
})
