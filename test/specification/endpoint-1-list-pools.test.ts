import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner } from '../helpers/partner.ts'
import { idpToken } from '../helpers/tokens.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await sandboxWith(({ tenants }) => {
    tenants[1]!.pools = ['morpho-usdc', 'aave-weth']
    tenants[2]!.access = ['list_portfolios']
  })
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const ids = async (query: string) =>
  (await acme.get(`pools${query}`)).body.data.map(({ pool_id }: { pool_id: string }) => pool_id)
const ALL = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']

test('Endpoint 1: 200 with the paginated envelope of pools', async () => {
  const { status, body } = await acme.get('pools')
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { has_more: false, next_cursor: null, prev_cursor: null },
  })
  expect(body.data).toHaveLength(4)
})

test('Endpoint 1: lists only the pools the calling tenant may use', async () => {
  const { data } = (await new Partner(sandbox, 'globex').get('pools')).body
  expect(data.map(({ pool_id }: { pool_id: string }) => pool_id)).toEqual(['aave-weth', 'morpho-usdc'])
  expect(await ids('')).toEqual(ALL)
})

test('Endpoint 1: a list asked for before shows what has changed since, to every tenant', async () => {
  const globex = new Partner(sandbox, 'globex')
  const lists = async () => {
    const answers = [await acme.get('pools'), await globex.get('pools'), await acme.get('pools')]
    return answers.map(({ body }) =>
      body.data.map(({ pool_id, tvl_usd }: Record<string, string>) => [pool_id, tvl_usd]),
    )
  }
  const portfolio = await acme.open('alice', 'aave-weth')
  await sandbox.clock.freeze()
  const [before] = await lists()
  expect(await lists()).toEqual([before, [before[1], before[2]], before])
  expect((await acme.deposit('alice', portfolio, '1000000000000000000')).status).toBe(200)
  const [after] = await lists()
  expect(Number(after[1][1])).toBeGreaterThan(Number(before[1][1]) + 100)
  expect(await lists()).toEqual([after, [after[1], after[2]], after])
})

test('Endpoint 1: needs no user token, and looks at none', async () => {
  expect(outcome(await acme.get('pools', { user: null }))).toBe('200')
  expect(outcome(await acme.get('pools', { headers: { 'x-user-token': 'nonsense' } }))).toBe('200')
})

test('Endpoint 1: limit is the page size, 1 to 100', async () => {
  expect(await ids('?limit=1')).toEqual(ALL.slice(0, 1))
  expect(await ids('?limit=3')).toEqual(ALL.slice(0, 3))
  expect(await ids('?limit=100')).toEqual(ALL)
  expect((await acme.get('pools?limit=0')).status).toBe(400)
  expect((await acme.get('pools?limit=101')).status).toBe(400)
})

test('Endpoint 1: starting_after takes next_cursor and pages forward', async () => {
  const { next_cursor } = (await acme.get('pools?limit=2')).body
  expect(await ids(`?limit=2&starting_after=${next_cursor}`)).toEqual(ALL.slice(2))
  expect(await ids('')).toEqual(ALL)
  expect(await ids(`?starting_after=${next_cursor}`)).toEqual(ALL.slice(2))
})

test('Endpoint 1: ending_before takes prev_cursor and pages backward', async () => {
  const { next_cursor } = (await acme.get('pools?limit=3')).body
  const { prev_cursor } = (await acme.get(`pools?limit=1&starting_after=${next_cursor}`)).body
  expect(await ids(`?limit=2&ending_before=${prev_cursor}`)).toEqual(ALL.slice(1, 3))
})

test('Endpoint 1: starting_after and ending_before must not both be present', async () => {
  const { next_cursor } = (await acme.get('pools?limit=2')).body
  const answer = await acme.get(`pools?starting_after=${next_cursor}&ending_before=${next_cursor}`)
  expect(outcome(answer)).toBe('400 conflicting_cursors')
})

test('Endpoint 1: 401 token_missing', async () => {
  expect(outcome(await acme.get('pools', { headers: { authorization: null } }))).toBe('401 token_missing')
})

test('Endpoint 1: 401 invalid_idp_token', async () => {
  expect(outcome(await acme.get('pools', { headers: { authorization: 'Bearer x' } }))).toBe('401 invalid_idp_token')
})

test('Endpoint 1: 401 unknown_partner', async () => {
  const token = await idpToken(sandbox, { appid: '00000000-0000-4000-8000-000000000000' })
  expect(outcome(await acme.get('pools', { headers: { authorization: `Bearer ${token}` } }))).toBe(
    '401 unknown_partner',
  )
})

test('Endpoint 1: 403 insufficient_role', async () => {
  expect(outcome(await new Partner(sandbox, 'restricted').get('pools'))).toBe('403 insufficient_role')
})
