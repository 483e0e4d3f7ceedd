import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, Partner, testNamespace } from '../helpers/partner.ts'
import { idpToken, userToken } from '../helpers/tokens.ts'

const WEEK = 7 * 24 * 60 * 60 * 1000
const PORTFOLIOS = 'end_users/alice/portfolios'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const create = async (change: Record<string, unknown>) =>
  acme.post(PORTFOLIOS, { ...(await acme.portfolioBody('aave-usdc')), ...change })
const cursor = async () => (await acme.get('pools?limit=1')).body.next_cursor as string

/** Every row of the table, reached by a client that has nothing but its credentials (and time). */
const TABLE: [row: string, reach: () => Promise<Answer>][] = [
  ['400 validation_error', () => create({ name: '' })],
  ['400 conflicting_cursors', async () => acme.get(`pools?starting_after=${await cursor()}&ending_before=x`)],
  ['400 cursor_invalid', async () => acme.get(`pools?starting_after=${await cursor()}x`)],
  ['401 token_missing', () => acme.get('pools', { headers: { authorization: null } })],
  ['401 invalid_idp_token', () => acme.get('pools', { headers: { authorization: 'Bearer expired' } })],
  [
    '401 unknown_partner',
    async () => {
      const token = await idpToken(sandbox, { appid: '11111111-1111-4111-8111-111111111111' })
      return acme.get('pools', { headers: { authorization: `Bearer ${token}` } })
    },
  ],
  [
    '401 invalid_user_token',
    async () => {
      const token = await userToken(sandbox, { claims: { exp: 1_700_000_000 } })
      return acme.get(PORTFOLIOS, { headers: { 'x-user-token': token } })
    },
  ],
  ['403 insufficient_role', () => new Partner(sandbox, 'restricted').get(PORTFOLIOS)],
  ['403 sub_url_mismatch', () => acme.get(PORTFOLIOS, { user: 'bob' })],
  ['404 end_user_not_found', () => acme.get('end_users/nobody/portfolios')],
  [
    '410 cursor_expired',
    async () => {
      const old = await cursor()
      await sandbox.clock.advance(WEEK + 1)
      return acme.get(`pools?starting_after=${old}`)
    },
  ],
  ['422 pool_not_found', () => create({ chain_id: '1' })],
]

describe.each(TABLE)('Errors: %s', (row, reach) => {
  test(`Errors: ${row} is reached by a plain client`, async () => {
    expect(outcome(await reach())).toBe(row)
  })

  test(`Errors: ${row} carries a string field code, the version and the request identifier`, async () => {
    const { body, headers } = await reach()
    expect(body.code).toBe(row.split(' ')[1])
    expect(headers.get('X-Service-Api-Version')).toBe('1.0.0')
    expect(headers.get('X-Service-Request-Id')).toMatch(/./)
  })
})

test.each([
  ['name length', { name: 'n'.repeat(51) }],
  ['chain_id not numeric', { chain_id: 'one' }],
  ['address not a valid Ethereum address', { market_address: '0x12' }],
])('Errors: validation_error for %s', async (_what, change) => {
  expect(outcome(await create(change))).toBe('400 validation_error')
})

test('Errors: end_user_not_found for an end user of another tenant', async () => {
  expect(outcome(await acme.get('end_users/bob/portfolios'))).toBe('404 end_user_not_found')
})
