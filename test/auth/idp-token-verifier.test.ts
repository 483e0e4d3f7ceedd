import { createHmac } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type IdpClaims, IdpTokenVerifier } from '../../src/auth/idp-token-verifier.ts'
import { TokenRefused } from '../../src/auth/token-refused.ts'
import { Origin } from '../../src/domain/origin.ts'
import { AUDIENCE, forge, type KeyPair, keyPair, MovableClock, problemOf, seconds } from './partner.ts'

let own: KeyPair
let foreign: KeyPair
let clock: MovableClock
let verifier: IdpTokenVerifier

beforeAll(() => {
  own = keyPair()
  foreign = keyPair()
})

afterEach(() => vi.restoreAllMocks())

beforeEach(() => {
  clock = new MovableClock()
  verifier = new IdpTokenVerifier({
    jwks: { keys: [own.jwk('idp-1')] },
    audiences: [AUDIENCE],
    origin: Origin.public(IDP),
    isOwn: async () => false,
    clock,
  })
})

const IDP = 'https://idp.example'

const claims = (changes: object = {}) => ({
  appid: 'acme-client',
  iss: IDP,
  tid: 'acme-tenant',
  ver: '1.0',
  aud: AUDIENCE,
  exp: seconds() + 3600,
  roles: ['list_pools'],
  ...changes,
})
const header = (changes: object = {}) => ({ alg: 'RS256', kid: 'idp-1', typ: 'JWT', ...changes })
const sign = (payload = claims(), head: { alg: string } = header(), key = own) =>
  new SignJWT(payload).setProtectedHeader(head).sign(key.privateKey)

const verify: (...given: Parameters<IdpTokenVerifier['verify']>) => Promise<IdpClaims> = async (...given) =>
  verifier.verify(...given)

async function refusal(token: string): Promise<string> {
  const problem = await problemOf(verify(`Bearer ${token}`))
  expect(problem).toMatchObject({ code: 'invalid_idp_token', status: 401, details: { param: 'Authorization' } })
  if (token.length > 20) expect(problem.message).not.toContain(token.slice(0, 20))
  return problem.details.detail
}

describe('the Authorization header', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'Bearer '])('may say %s', async (scheme) => {
    expect(await verify(`${scheme} ${await sign()}`)).toMatchObject({
      appid: 'acme-client',
      roles: ['list_pools'],
    })
  })

  it.each([undefined, '', ' ', 'Bearer', 'Bearer   ', 'Basic YTpi', 'Bearerabc', 'Token x', 'x.y.z'])(
    'holds no bearer token: %j',
    async (authorization) => {
      const problem = await problemOf(verify(authorization))
      expect(problem).toMatchObject({ code: 'token_missing', status: 401 })
      expect(problem.details.detail).toContain('Authorization: Bearer')
    },
  )
})

describe('an identity-provider token is refused', () => {
  it.each<[string, object, string]>([
    ['when it has expired', { exp: seconds() - 1 }, 'it expired at'],
    ['without expiry', { exp: undefined }, 'its claim exp is missing'],
    ['before its time', { nbf: seconds() + 60 }, 'it is not valid before'],
    ['for another audience', { aud: 'api://other' }, 'its aud is "api://other"; expected "api://yield-sandbox"'],
    ['without audience', { aud: undefined }, 'its claim aud is missing'],
    ['without appid', { appid: undefined }, 'its claim appid is missing'],
    ['of another issuer', { iss: 'https://evil.example' }, `its iss is "https://evil.example"; expected "${IDP}"`],
    ['without issuer', { iss: undefined }, 'its claim iss is missing'],
    ['of another version', { ver: '2.0' }, 'its ver is "2.0"; expected "1.0"'],
    ['without version', { ver: undefined }, 'its ver is nothing'],
    ['without tid', { tid: undefined }, 'its claim tid is missing'],
    ['with a tid that is no text', { tid: 7 }, 'its tid is 7'],
    ['with an empty appid', { appid: '' }, 'its appid is ""'],
    ['with an appid that is no text', { appid: ['acme-client'] }, 'its appid is ["acme-client"]'],
  ])('%s', async (_name, changes, sentence) => {
    expect(await refusal(await sign(claims(changes)))).toContain(sentence)
  })

  it('signed by another key, whatever its header offers', async () => {
    expect(await refusal(await sign(claims(), header(), foreign))).toContain('its signature')
    expect(await refusal(await sign(claims(), header({ jwk: foreign.jwk('idp-1') }), foreign))).toContain(
      'its signature',
    )
    expect(await refusal(await sign(claims(), header({ kid: 'other' }), foreign))).toContain('has its kid "other"')
    expect(await refusal(await sign(claims(), header({ kid: undefined })))).toContain('no kid')
  })

  it('with another algorithm', async () => {
    const unsigned = forge(header({ alg: 'HS256' }), claims()).slice(0, -1)
    const mac = createHmac('sha256', own.publicPem).update(unsigned).digest('base64url')
    expect(await refusal(`${unsigned}.${mac}`)).toContain('its alg is "HS256"')
    expect(await refusal(forge(header({ alg: 'none' }), claims()))).toContain('its alg is "none"')
    expect(await refusal(await sign(claims(), header({ alg: 'RS512' })))).toContain('its alg is "RS512"')
  })

  it.each(['garbage', 'a.b.c', 'two words', 'e30.e30.', forge({}, {})])('when it is none: %s', async (token) => {
    await refusal(token)
  })
})

it('is verified again once it has expired, although it was good before', async () => {
  const token = await sign()
  await verify(`Bearer ${token}`)
  clock.ahead = 3_601_000
  expect(await refusal(token)).toContain('it expired at')
})

it('is read once, and again when it was forgotten', async () => {
  const authorization = `Bearer ${await sign()}`
  const verifying = vi.spyOn(crypto.subtle, 'verify')
  try {
    for (let i = 0; i < 3; i++) expect(await verify(authorization)).toMatchObject({ appid: 'acme-client' })
    expect(verifying).toHaveBeenCalledTimes(1)
    verifier.clear()
    await verify(authorization)
    expect(verifying).toHaveBeenCalledTimes(2)
  } finally {
    verifying.mockRestore()
  }
})

it('is never taken for the one before it', async () => {
  const [acme, globex] = await Promise.all(['acme', 'globex'].map((appid) => sign(claims({ appid }))))
  const appidOf = async (token: string | undefined) => (await verify(`Bearer ${token}`)).appid
  for (let i = 0; i < 2; i++) {
    for (const token of [acme, acme]) expect(await appidOf(token)).toBe('acme')
    for (const token of [globex, globex]) expect(await appidOf(token)).toBe('globex')
    expect(await refusal('garbage')).toContain('signed JWT')
  }
})

it('counts as it was read, in the second before it expires and not in the next', async () => {
  clock.stop()
  const token = await sign(claims({ exp: Math.floor(clock.wallNow() / 1000) + 10 }))
  await verify(`Bearer ${token}`)
  clock.ahead = 9_000
  expect(await verify(`Bearer ${token}`)).toMatchObject({ appid: 'acme-client' })
  clock.ahead = 10_000
  expect(await refusal(token)).toContain('it expired at')
})

describe('whose a token is', () => {
  const seen = async (token: string) => verifier.see(`Bearer ${token}`)

  it('is known of a good one, and it is verified once', async () => {
    const verifying = vi.spyOn(crypto.subtle, 'verify')
    const authorization = `Bearer ${await sign()}`
    expect(verifier.knownClient(authorization)).toBeUndefined()
    const found = await verifier.see(authorization)
    expect(found).toEqual({ client: 'acme-client', refusal: undefined })
    await verify(authorization, found)
    expect(verifier.knownClient(authorization)).toBe('acme-client')
    expect(verifying).toHaveBeenCalledTimes(1)
  })

  it('is known of one that is refused for its claims, and it is verified once', async () => {
    const verifying = vi.spyOn(crypto.subtle, 'verify')
    const authorization = `Bearer ${await sign(claims({ aud: 'api://other' }))}`
    const found = await verifier.see(authorization)
    expect(found.client).toBe('acme-client')
    expect(await problemOf(verify(authorization, found))).toBe(found.refusal)
    expect(verifying).toHaveBeenCalledTimes(1)
  })

  it('stays known when the token expires', async () => {
    clock.stop()
    const authorization = `Bearer ${await sign(claims({ exp: Math.floor(clock.wallNow() / 1000) + 10 }))}`
    await verifier.see(authorization)
    clock.ahead = 60_000
    expect(verifier.knownClient(authorization)).toBe('acme-client')
    expect(await verifier.see(authorization)).toMatchObject({ client: 'acme-client', refusal: { status: 401 } })
  })

  it('is not what the token says when nobody vouches for it', async () => {
    expect((await seen(await sign(claims(), header(), foreign))).client).toBeUndefined()
    const [head, , signature] = (await sign()).split('.')
    const altered = Buffer.from(JSON.stringify(claims({ appid: 'other' }))).toString('base64url')
    expect((await seen(`${head}.${altered}.${signature}`)).client).toBeUndefined()
    expect((await verifier.see(undefined)).client).toBeUndefined()
    expect((await verifier.see('Basic abc')).client).toBeUndefined()
  })
})

it('keeps what was found wrong as the cause of the error', async () => {
  const { cause } = await problemOf(verify('Bearer garbage'))
  expect(cause).toBeInstanceOf(TokenRefused)
})

it('does not take a fault of the program for a fault of the token', async () => {
  const failure = new TypeError('a fault of the program')
  const origin = new Proxy(Origin.public(IDP), {
    get() {
      throw failure
    },
  })
  const failing = new IdpTokenVerifier({
    jwks: { keys: [own.jwk('idp-1')] },
    audiences: [AUDIENCE],
    origin,
    isOwn: async () => false,
    clock,
  })
  await expect(failing.verify(`Bearer ${await sign()}`)).rejects.toBe(failure)
})
