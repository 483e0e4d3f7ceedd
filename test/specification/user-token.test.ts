import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { seconds, strangersKey, userToken } from '../helpers/tokens.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const listWith = async (token: string, externalId = 'alice') =>
  outcome(await acme.get(`end_users/${externalId}/portfolios`, { headers: { 'x-user-token': token } }))
const json = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

describe('User token 1', () => {
  test('User token 1: a token the partner signs with its own private key using RS256 is taken', async () => {
    const token = await userToken(sandbox)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', kid: 'acme-1', typ: 'JWT' })
    expect(await listWith(token)).toBe('200')
  })

  test("User token 1: another tenant's key is refused", async () => {
    const key = createPrivateKey(sandbox.tenants[1]!.private_key_pem!)
    expect(await listWith(await userToken(sandbox, { key }))).toBe('401 invalid_user_token')
  })

  test('User token 1: RS256 only: no signature, the public key as HMAC secret and ES256 are refused', async () => {
    const claims = json(decodeJwt(await userToken(sandbox)))
    const unsigned = `${json({ alg: 'none', kid: 'acme-1', typ: 'JWT' })}.${claims}.`
    const publicPem = createPublicKey(sandbox.tenants[0]!.private_key_pem!).export({ type: 'spki', format: 'pem' })
    const signed = `${json({ alg: 'HS256', kid: 'acme-1', typ: 'JWT' })}.${claims}`
    const confused = `${signed}.${createHmac('sha256', publicPem).update(signed).digest('base64url')}`
    const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const elliptic = await userToken(sandbox, { header: { alg: 'ES256' }, key })
    for (const token of [unsigned, confused, elliptic]) expect(await listWith(token)).toBe('401 invalid_user_token')
  })
})

describe('User token 2', () => {
  test.each([
    ['alg', 'RS384'],
    ['kid', 'another'],
    ['kid', undefined],
    ['typ', 'at+jwt'],
    ['typ', undefined],
  ])('User token 2: the header member %s as %j is refused', async (member, value) => {
    expect(await listWith(await userToken(sandbox, { header: { [member]: value } }))).toBe('401 invalid_user_token')
  })
})

describe('User token 3', () => {
  test('User token 3: sub is the external_id in the URL', async () => {
    await acme.post('end_users', { external_id: 'una' })
    expect(await listWith(await userToken(sandbox, { claims: { sub: 'una' } }), 'una')).toBe('200')
  })

  test.each([
    ['iss', 'https://globex.example'],
    ['iss', undefined],
    ['aud', 'api://another-service'],
    ['aud', undefined],
    ['iat', 'yesterday'],
    ['exp', undefined],
    ['sub', undefined],
  ])('User token 3: the claim %s as %j is refused', async (claim, value) => {
    expect(await listWith(await userToken(sandbox, { claims: { [claim]: value } }))).toBe('401 invalid_user_token')
  })

  test('User token 3: a lifetime of 1 hour works, and so does a shorter and a longer one', async () => {
    for (const lifetime of [60, 3600, 86_400]) {
      expect(await listWith(await userToken(sandbox, { claims: { exp: seconds() + lifetime } }))).toBe('200')
    }
  })
})

describe('User token 4', () => {
  test('User token 4: a failed signature check gives 401 invalid_user_token', async () => {
    expect(await listWith(await userToken(sandbox, { key: strangersKey() }))).toBe('401 invalid_user_token')
    const [header, , signature] = (await userToken(sandbox)).split('.')
    const claims = json({ ...decodeJwt(await userToken(sandbox)), exp: seconds() + 99_999 })
    expect(await listWith(`${header}.${claims}.${signature}`)).toBe('401 invalid_user_token')
  })

  test('User token 4: an expired token gives 401 invalid_user_token', async () => {
    const claims = { iat: seconds() - 3601, exp: seconds() - 1 }
    expect(await listWith(await userToken(sandbox, { claims }))).toBe('401 invalid_user_token')
  })

  test('User token 4: what is no JWT gives 401 invalid_user_token', async () => {
    for (const token of ['x', 'a.b.c', '..', 'Bearer x']) expect(await listWith(token)).toBe('401 invalid_user_token')
  })
})

test('User token 5: a sub that differs from the URL gives 403 sub_url_mismatch on every user-scoped endpoint', async () => {
  const body = { portfolio_id: 'jar_x', amount_minor: '1' }
  const ask = { user: 'bob' }
  const answers = [
    await acme.get('end_users/alice/portfolios', ask),
    await acme.get('end_users/alice/transactions', ask),
    await acme.post('end_users/alice/portfolios', await acme.portfolioBody('aave-usdc'), ask),
    await acme.post('end_users/alice/deposit', body, ask),
    await acme.post('end_users/alice/withdraw', body, ask),
    await acme.get('end_users/Alice/portfolios', { user: 'alice' }),
  ]
  expect(answers.map(outcome)).toEqual(Array(6).fill('403 sub_url_mismatch'))
})

test('User token: one alone does not do, every endpoint needs the identity-provider token', async () => {
  const answer = await acme.get('end_users/alice/portfolios', { headers: { authorization: null } })
  expect(outcome(answer)).toBe('401 token_missing')
})
