import { createHmac, createPublicKey } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { IdpTokenVerifier } from '../../src/auth/idp-token-verifier.ts'
import { UserKeys } from '../../src/auth/user-keys.ts'
import { UserTokenVerifier } from '../../src/auth/user-token-verifier.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Origin } from '../../src/domain/origin.ts'
import type { Tenant } from '../../src/domain/records.ts'
import { IdentityProvider } from '../../src/identity/identity-provider.ts'
import { mintUserToken, type UserTokenRequest } from '../../src/identity/mint-user-token.ts'
import { UnknownKey } from '../../src/identity/sign-jwt.ts'
import { ACME, demoKey } from './identity-server.ts'

const clock = new SandboxClock()
const unknownKey = new UnknownKey()
const audience = 'api://yield-sandbox'
const publicPem = createPublicKey(demoKey('acme')).export({ type: 'spki', format: 'pem' }).toString()
const acme: Tenant = { ...ACME, user_keys: { public_key_pem: publicPem, kid: 'acme-1' } }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const verifier = new UserTokenVerifier({ audience, leeway: 60, clock, keys: new UserKeys({ clock, logger: silent }) })
const origin = Origin.public('http://127.0.0.1')
const provider = new IdentityProvider({
  privateKeyPem: demoKey('identity-provider'),
  kid: 'idp-1',
  origin,
  audience,
  lifetime: 3600,
  clock,
  unknownKey,
})
const idpVerifier = new IdpTokenVerifier({
  jwks: provider.jwks(),
  audiences: [audience],
  origin,
  isOwn: async () => false,
  clock,
})

const mint = (request: Partial<UserTokenRequest> = {}) =>
  mintUserToken(acme, { external_id: 'alice', ...request }, { audience, clock, unknownKey })

describe('a minted user token', () => {
  it('is good for an hour', async () => {
    const { token, expires_at } = await mint()
    expect(await verifier.verify(token, acme)).toEqual({ sub: 'alice' })
    const { exp = 0, iat = 0 } = decodeJwt(token)
    expect(exp - iat).toBe(3600)
    expect(expires_at).toBe(new Date(exp * 1000).toISOString())
  })

  it.each<[string, Partial<UserTokenRequest>]>([
    ['expired', { expires_in: -60 }],
    ['signed with an unknown key', { key: 'unknown' }],
    ['for another audience', { claims: { aud: 'other' } }],
    ['without sub', { claims: { sub: null } }],
    ['without kid', { header: { kid: null } }],
    ['unsigned', { header: { alg: 'none' } }],
    ['signed with the public key as a secret', { header: { alg: 'HS256' } }],
    ['signed with RS512', { header: { alg: 'RS512' } }],
    ['of an algorithm nobody knows', { header: { alg: 'XY' } }],
  ])('is bad on purpose when asked: %s', async (_name, request) => {
    const { token } = await mint(request)
    await expect(verifier.verify(token, acme)).rejects.toMatchObject({ code: 'invalid_user_token' })
  })

  it('really is what its overridden alg says', async () => {
    const [header, claims, signature] = (await mint({ header: { alg: 'HS256' } })).token.split('.')
    expect(createHmac('sha256', publicPem).update(`${header}.${claims}`).digest('base64url')).toBe(signature)
    const { token } = await mint({ header: { alg: 'RS512' } })
    await jwtVerify(token, createPublicKey(publicPem), { algorithms: ['RS512'] })
  })

  it.each([1e15, Number.NaN])('cannot live %d seconds', async (expires_in) => {
    await expect(mint({ expires_in })).rejects.toMatchObject({
      code: 'validation_error',
      details: { param: 'expires_in' },
    })
  })

  it('cannot be made without the private key', async () => {
    const { private_key_pem: _taken, ...without } = acme
    const minted = mintUserToken(without, { external_id: 'alice' }, { audience, clock, unknownKey })
    await expect(minted).rejects.toMatchObject({ code: 'validation_error' })
  })
})

describe('an identity-provider token on demand', () => {
  const check = async (request: Parameters<typeof provider.issueToken>[1]) => {
    const { access_token } = await provider.issueToken(acme, request)
    return idpVerifier.verify(`Bearer ${access_token}`)
  }

  it('is good by default and lives as long as asked', async () => {
    expect(await check({ lifetime: 5 })).toMatchObject({ appid: acme.client_id, tid: acme.tenant_id })
    const { access_token, expires_in } = await provider.issueToken(acme, { lifetime: 5, header: { x: 1 } })
    expect(expires_in).toBe(5)
    expect(decodeProtectedHeader(access_token)).toEqual({ alg: 'RS256', kid: 'idp-1', typ: 'JWT', x: 1 })
  })

  it.each([{ lifetime: -1 }, { key: 'unknown' as const }, { claims: { appid: null } }, { header: { kid: 'other' } }])(
    'is bad on purpose when asked: %j',
    async (request) => {
      await expect(check(request)).rejects.toMatchObject({ code: 'invalid_idp_token' })
    },
  )

  it('lists the operations a restricted tenant may call', async () => {
    const { access_token } = await provider.issueToken({ ...acme, access: ['list_pools'] })
    expect(decodeJwt(access_token).roles).toEqual(['list_pools'])
  })
})
