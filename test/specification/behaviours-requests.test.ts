import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Ask, Partner, testNamespace } from '../helpers/partner.ts'
import { idpToken, userToken } from '../helpers/tokens.ts'

/** Behaviours of requests, tokens and pages that are neither in the specification nor among the assumptions. */

let sandbox: SandboxHandle
let acme: Partner
let pool: Record<string, string>
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  pool = await acme.portfolioBody('aave-usdc')
})
afterAll(() => sandbox.stop())

const create = (change: object, ask?: Ask) => acme.post('end_users/alice/portfolios', { ...pool, ...change }, ask)

test('Behaviour null-fields: an optional field that is null counts as left out', async () => {
  const created = await create({ description: null, protocol: null })
  expect(created).toMatchObject({ status: 201, body: { description: null, protocol: 'aave' } })
  expect(outcome(await acme.post('end_users', { external_id: 'nil', user_jwt: null }))).toBe('201')
  for (const field of ['name', 'chain_id', 'token_address', 'market_address']) {
    const refused = await create({ [field]: null })
    expect([outcome(refused), refused.body.param]).toEqual(['400 validation_error', field])
  }
})

test('Behaviour names-as-given: nothing is trimmed; a blank name and an empty description stay as they are', async () => {
  for (const given of [
    { name: ' ', description: '' },
    { name: ' a\u00a0b ', description: 'two\nlines' },
  ]) {
    expect(await create(given)).toMatchObject({ status: 201, body: given })
  }
})

test('Behaviour chain-id-digits: 78 digits at most; a leading zero is another chain', async () => {
  expect(outcome(await create({ chain_id: `0${pool.chain_id}` }))).toBe('422 pool_not_found')
  expect(outcome(await create({ chain_id: '9'.repeat(78) }))).toBe('422 pool_not_found')
  expect(outcome(await create({ chain_id: '9'.repeat(79) }))).toBe('400 validation_error')
})

test('Behaviour amount-digits: leading zeros change nothing; 100 digits at most', async () => {
  const portfolio = (await create({})).body.portfolio_id
  expect(await acme.deposit('alice', portfolio, '0001000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
  expect(outcome(await acme.deposit('alice', portfolio, '1'.padStart(101, '0')))).toBe('400 validation_error')
})

test('Behaviour query-parameters: limit=05 is 5; repeated is 400; unknown ones change nothing', async () => {
  const items = async (query: string) => (await acme.get(`pools?${query}`)).body.data.length
  expect([await items('limit=01'), await items('LIMIT=1&limit[]=1')]).toEqual([1, 4])
  expect(outcome(await acme.get('pools?limit=1&limit=1'))).toBe('400 validation_error')
})

test('Behaviour empty-cursor: an empty cursor is 400 cursor_invalid', async () => {
  for (const name of ['starting_after', 'ending_before']) {
    expect(outcome(await acme.get(`pools?${name}=`))).toBe('400 cursor_invalid')
  }
})

test('Behaviour json-bodies: of two equal keys the last wins; a BOM passes; __proto__ is refused', async () => {
  const send = (body: string) => acme.ask('POST', 'end_users', { body })
  expect(await send('{"external_id": "one", "external_id": "two"}')).toMatchObject({ body: { external_id: 'two' } })
  expect(await send('\ufeff{"external_id": "bom"}')).toMatchObject({ status: 201, body: { external_id: 'bom' } })
  expect(outcome(await send('{"external_id": "x", "__proto__": {}}'))).toBe('400 validation_error')
  expect(outcome(await send('{"external_id": "x", "constructor": {"prototype": {}}}'))).toBe('400 validation_error')
})

test('Behaviour media-types: application/json in UTF-8 alone', async () => {
  const send = (type: string) =>
    acme.ask('POST', 'end_users', { body: '{"external_id": "alice"}', headers: { 'content-type': type } })
  expect(outcome(await send('application/json; charset=UTF-8'))).toBe('201')
  for (const type of ['application/vnd.acme+json', 'application/json; charset=latin1', 'text/json']) {
    expect(outcome(await send(type))).toBe('415 unsupported_media_type')
  }
})

test('Behaviour route-before-credentials: 404 and 405 come before authentication', async () => {
  const bare = { headers: { authorization: null } }
  expect(outcome(await acme.get('nothing', bare))).toBe('404 not_found')
  expect(outcome(await acme.post('pools', {}, bare))).toBe('405 method_not_allowed')
})

test('Behaviour exact-paths: a trailing slash or another case is 404 not_found', async () => {
  for (const path of ['pools/', 'Pools', 'end_users/alice/portfolios/', 'end_users/alice/PORTFOLIOS']) {
    expect([path, outcome(await acme.get(path))]).toEqual([path, '404 not_found'])
  }
})

test('Behaviour token-form: typ in any case, aud alone or in a list; a critical extension is refused', async () => {
  const { audience } = await sandbox.credentials()
  const list = async (change: Parameters<typeof userToken>[1]) => {
    const headers = { 'x-user-token': await userToken(sandbox, change) }
    return outcome(await acme.get('end_users/alice/portfolios', { headers }))
  }
  expect(await list({ header: { typ: 'jwt' } })).toBe('200')
  expect(await list({ claims: { aud: ['api://else', audience] } })).toBe('200')
  expect(await list({ claims: { sub: undefined } })).toBe('401 invalid_user_token')
  const [, claims, signature] = (await userToken(sandbox)).split('.')
  expect(await list({ header: { crit: ['b64'], b64: true } })).toBe('401 invalid_user_token')
  const header = { alg: 'RS256', kid: 'acme-1', typ: 'JWT', crit: ['exp'] }
  const critical = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}.${signature}`
  const answer = await acme.get('end_users/alice/portfolios', { headers: { 'x-user-token': critical } })
  expect([outcome(answer), answer.body.detail]).toEqual([
    '401 invalid_user_token',
    expect.stringContaining('"exp" is not recognized'),
  ])
})

test('Behaviour appid: without it 401 invalid_idp_token; its case counts', async () => {
  const { client_id } = sandbox.tenants[0]!
  const pools = async (appid: unknown) => {
    const headers = { authorization: `Bearer ${await idpToken(sandbox, { appid })}` }
    return outcome(await acme.get('pools', { headers }))
  }
  expect(await pools(undefined)).toBe('401 invalid_idp_token')
  expect(await pools(client_id.toUpperCase())).toBe('401 unknown_partner')
})

test('Behaviour after-a-reset: tokens and cursors from before it stay good', async () => {
  const authorization = `Bearer ${await acme.idpToken()}`
  const headers = { authorization, 'x-user-token': await acme.userToken('alice') }
  const { next_cursor } = (await acme.get('pools?limit=1')).body
  await sandbox.reset()
  expect(outcome(await acme.get('end_users/alice/portfolios', { headers }))).toBe('200')
  expect(outcome(await acme.get(`pools?limit=1&starting_after=${next_cursor}`, { headers }))).toBe('200')
})

test('Behaviour cursor-use: next_cursor works as ending_before, and another limit may go with a cursor', async () => {
  const ids = async (query: string) =>
    (await acme.get(`pools?${query}`)).body.data.map(({ pool_id }: { pool_id: string }) => pool_id)
  const all = await ids('')
  const { next_cursor } = (await acme.get('pools?limit=2')).body
  expect(await ids(`limit=1&starting_after=${next_cursor}`)).toEqual(all.slice(2, 3))
  expect(await ids(`ending_before=${next_cursor}`)).toEqual(all.slice(0, 1))
})

test('Behaviour first-page: prev_cursor is null on what is the first page now', async () => {
  const user = 'fay'
  for (const name of ['a', 'b']) await acme.open(user, 'aave-usdc', name)
  const path = `end_users/${user}/transactions`
  const portfolio = (await acme.get(`end_users/${user}/portfolios`)).body.data[0].portfolio_id
  for (const amount of ['1000', '2000']) await acme.deposit(user, portfolio, amount)
  const { next_cursor } = (await acme.get(`${path}?limit=1`)).body
  const second = (await acme.get(`${path}?limit=1&starting_after=${next_cursor}`)).body
  const back = () => acme.get(`${path}?limit=1&ending_before=${second.prev_cursor}`)
  expect((await back()).body.prev_cursor).toBeNull()
  await acme.deposit(user, portfolio, '3000')
  expect((await back()).body.prev_cursor).not.toBeNull()
})
