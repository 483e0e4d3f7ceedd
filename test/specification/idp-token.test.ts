import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner } from '../helpers/partner.ts'
import { idpToken, seconds, strangersKey } from '../helpers/tokens.ts'

let sandbox: SandboxHandle
let acme: Partner
let form: Record<string, string>
beforeAll(async () => {
  sandbox = await sandboxWith(({ tenants }) => {
    tenants[0]!.end_users = [{ external_id: 'alice' }, { external_id: 'twin' }]
    tenants[1]!.end_users = [{ external_id: 'bob' }, { external_id: 'twin' }]
  })
  acme = new Partner(sandbox)
  const { client_id, client_secret } = sandbox.tenants[0]!
  form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'api://yield-sandbox/.default' }
})
afterAll(() => sandbox.stop())

const grant = (fields: Record<string, string>) =>
  fetch(sandbox.authUrl, { method: 'POST', body: new URLSearchParams(fields) })
const poolsWith = async (authorization: string | null) =>
  outcome(await acme.get('pools', { headers: { authorization } }))

describe('Identity-provider token 1', () => {
  test('Identity-provider token 1: a POST of a form gets a token that the service takes', async () => {
    const response = await grant(form)
    expect(response.status).toBe(200)
    const { access_token } = (await response.json()) as { access_token: string }
    expect(await poolsWith(`Bearer ${access_token}`)).toBe('200')
  })

  test('Identity-provider token 1: the method is POST and the content type application/x-www-form-urlencoded', async () => {
    expect((await fetch(`${sandbox.authUrl}?${new URLSearchParams(form)}`)).status).toBe(405)
    const headers = { 'content-type': 'application/json' }
    const json = await fetch(sandbox.authUrl, { method: 'POST', headers, body: JSON.stringify(form) })
    expect(json.status).toBe(400)
  })
})

describe('Identity-provider token 2', () => {
  test.each(['grant_type', 'client_id', 'client_secret', 'scope'])(
    'Identity-provider token 2: the field %s is required and must be right',
    async (field) => {
      const { [field]: _left, ...rest } = form
      expect((await grant(rest)).ok).toBe(false)
      expect((await grant({ ...form, [field]: 'wrong' })).ok).toBe(false)
    },
  )

  test('Identity-provider token 2: scope is the audience with the suffix /.default', async () => {
    const { audience, scope } = await sandbox.credentials()
    expect(scope).toBe(`${audience}/.default`)
    expect((await grant({ ...form, scope })).status).toBe(200)
    expect((await grant({ ...form, scope: audience })).status).toBe(400)
  })
})

test('Identity-provider token 3: the response has access_token and expires_in, which is how long the token lives', async () => {
  const asked = seconds()
  const body = (await (await grant(form)).json()) as { access_token: string; expires_in: number }
  const { exp } = JSON.parse(Buffer.from(body.access_token.split('.')[1]!, 'base64url').toString())
  expect(body.expires_in).toBeGreaterThan(60)
  expect(exp - body.expires_in).toBeGreaterThanOrEqual(asked - 1)
  expect(exp - body.expires_in).toBeLessThanOrEqual(seconds() + 1)
})

test('Identity-provider token 3: until its expiry a token may be used again and again', async () => {
  const almostOver = await idpToken(sandbox, { iat: seconds() - 3550, nbf: seconds() - 3550, exp: seconds() + 50 })
  for (let i = 0; i < 3; i++) expect(await poolsWith(`Bearer ${almostOver}`)).toBe('200')
})

test('Identity-provider token 4: appid is mapped to the tenant', async () => {
  const globex = new Partner(sandbox, 'globex')
  await acme.open('twin')
  expect((await acme.get('end_users/twin/portfolios')).body.data).toHaveLength(1)
  expect((await globex.get('end_users/twin/portfolios')).body.data).toHaveLength(0)
})

test('Identity-provider token 4: an unmatched appid is 401 unknown_partner', async () => {
  const token = await idpToken(sandbox, { appid: '00000000-0000-4000-8000-000000000000' })
  expect(await poolsWith(`Bearer ${token}`)).toBe('401 unknown_partner')
})

test.each([
  ['no header', null],
  ['an empty header', ''],
  ['a scheme without a token', 'Bearer'],
  ['another scheme', 'Basic YWNtZTpzZWNyZXQ='],
])('Identity-provider token 5: %s is 401 token_missing', async (_what, authorization) => {
  expect(await poolsWith(authorization)).toBe('401 token_missing')
})

describe('Identity-provider token 6', () => {
  test.each([
    ['expired', { iat: 1_700_000_000, nbf: 1_700_000_000, exp: 1_700_003_600 }],
    ['for another audience', { aud: 'api://another-service' }],
    ['without an audience', { aud: undefined }],
    ['without an expiry', { exp: undefined }],
    ['without an appid', { appid: undefined }],
  ])('Identity-provider token 6: a token %s is 401 invalid_idp_token', async (_what, claims) => {
    expect(await poolsWith(`Bearer ${await idpToken(sandbox, claims)}`)).toBe('401 invalid_idp_token')
  })

  test.each(['x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.'])(
    'Identity-provider token 6: the malformed token %s is 401 invalid_idp_token',
    async (token) => {
      expect(await poolsWith(`Bearer ${token}`)).toBe('401 invalid_idp_token')
    },
  )

  test('Identity-provider token 6: a token of another signer is 401 invalid_idp_token', async () => {
    expect(await poolsWith(`Bearer ${await idpToken(sandbox, {}, strangersKey())}`)).toBe('401 invalid_idp_token')
  })

  test('Identity-provider token 6: a client that refreshes and retries once succeeds', async () => {
    const expired = await idpToken(sandbox, { iat: 1_700_000_000, nbf: 1_700_000_000, exp: 1_700_003_600 })
    expect(await poolsWith(`Bearer ${expired}`)).toBe('401 invalid_idp_token')
    const { access_token } = (await (await grant(form)).json()) as { access_token: string }
    expect(await poolsWith(`Bearer ${access_token}`)).toBe('200')
  })
})

test('Identity-provider token 7: a tenant without access to an endpoint gets 403 insufficient_role', async () => {
  const restricted = new Partner(sandbox, 'restricted')
  expect(outcome(await restricted.get('pools'))).toBe('200')
  const refused = [
    await restricted.post('end_users', { external_id: 'x' }),
    await restricted.get('end_users/x/portfolios'),
    await restricted.get('end_users/x/transactions'),
    await restricted.deposit('x', 'jar_x', '1'),
    await restricted.withdraw('x', 'jar_x', '1'),
    await restricted.post('end_users/x/portfolios', {}),
  ]
  expect(new Set(refused.map(outcome))).toEqual(new Set(['403 insufficient_role']))
})
