import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TokenRefused } from '../../src/auth/token-refused.ts'
import { UserKeys } from '../../src/auth/user-keys.ts'
import { UserTokenVerifier } from '../../src/auth/user-token-verifier.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type { UserKeySource } from '../../src/domain/records.ts'
import {
  AUDIENCE,
  forge,
  ISSUER,
  type KeyPair,
  keyPair,
  MovableClock,
  problemOf,
  recordedLog,
  seconds,
  tenant,
  userToken,
} from './partner.ts'

let registered: KeyPair
let foreign: KeyPair
let clock: MovableClock
let verifier: UserTokenVerifier
let acme: ReturnType<typeof tenant>

beforeAll(() => {
  registered = keyPair()
  foreign = keyPair()
})

beforeEach(() => {
  clock = new MovableClock()
  verifier = new UserTokenVerifier({
    audience: AUDIENCE,
    leeway: 60,
    clock,
    keys: new UserKeys({ clock, logger: recordedLog() }),
  })
  acme = tenant({ jwks: { keys: [registered.jwk('acme-1')] } })
})

async function detailOf(token: string | undefined, of = acme): Promise<string> {
  const problem = await problemOf(verifier.verify(token, of))
  expect(problem).toMatchObject({ code: 'invalid_user_token', status: 401, details: { param: 'X-User-Token' } })
  if (token && token.length > 20) expect(problem.message).not.toContain(token.slice(0, 20))
  return problem.details.detail
}

const claims = () => ({ sub: 'alice', iss: ISSUER, aud: AUDIENCE, iat: seconds(), exp: seconds() + 3600 })
const header = (changes: object = {}) => ({ alg: 'RS256', kid: 'acme-1', typ: 'JWT', ...changes })

describe('a good user token', () => {
  it('names the end user', async () => {
    expect(await verifier.verify(await userToken(registered), acme)).toEqual({ sub: 'alice' })
  })

  it.each<[string, () => UserKeySource]>([
    ['an inline key set', () => ({ jwks: { keys: [registered.jwk('acme-1')] } })],
    ['a PEM public key', () => ({ public_key_pem: registered.publicPem, kid: 'acme-1' })],
    [
      'a key set with foreign kinds of keys beside it',
      () => ({ jwks: { keys: [...oddKeys(), registered.jwk('acme-1')] } }),
    ],
    ['a private key published by mistake', () => ({ jwks: { keys: [{ ...privateJwk(), kid: 'acme-1' }] } })],
  ])('verifies with %s', async (_name, source) => {
    expect(await verifier.verify(await userToken(registered), tenant(source()))).toEqual({ sub: 'alice' })
  })

  it('may name several audiences and carry further claims', async () => {
    const token = await userToken(registered, { aud: ['other', AUDIENCE], nbf: seconds(), scope: 'x' })
    expect(await verifier.verify(token, acme)).toEqual({ sub: 'alice' })
  })

  it('may come from a clock that is ahead by the leeway, but not by more', async () => {
    clock.stop()
    const now = Math.floor(clock.wallNow() / 1000)
    for (const claim of ['iat', 'nbf']) {
      const early = (ahead: number) => userToken(registered, { [claim]: now + ahead })
      const token = await early(60)
      expect(await verifier.verify(token, acme)).toEqual({ sub: 'alice' })
      expect(await verifier.verify(token, acme)).toEqual({ sub: 'alice' })
      expect(await detailOf(await early(61))).toMatch(/in the future|not valid before/)
    }
  })

  it('need not say when it was issued', async () => {
    expect(await verifier.verify(await userToken(registered, Object.fromEntries([['iat', undefined]])), acme)).toEqual({
      sub: 'alice',
    })
  })

  it('ignores keys and addresses in its own header', async () => {
    const own = { jku: 'http://127.0.0.1:9/jwks', x5u: 'http://127.0.0.1:9/cert', jwk: foreign.jwk('acme-1') }
    expect(await verifier.verify(await userToken(registered, {}, own), acme)).toEqual({ sub: 'alice' })
    expect(await detailOf(await userToken(foreign, {}, own))).toContain('its signature')
  })
})

describe('algorithm confusion', () => {
  it('refuses HS256 signed with the public key as the secret', async () => {
    for (const secret of [
      registered.publicPem,
      registered.publicPem.trim(),
      JSON.stringify(registered.jwk('acme-1')),
    ]) {
      const unsigned = forge(header({ alg: 'HS256' }), claims()).slice(0, -1)
      const signature = createHmac('sha256', secret).update(unsigned).digest('base64url')
      expect(await detailOf(`${unsigned}.${signature}`)).toContain('its alg is "HS256"; expected "RS256"')
    }
  })

  it.each(['none', 'None', 'NONE'])('refuses alg %s', async (alg) => {
    expect(await detailOf(forge(header({ alg }), claims()))).toContain(`its alg is "${alg}"`)
  })

  it.each(['RS384', 'RS512', 'PS256'])('refuses %s even with the registered key', async (alg) => {
    expect(await detailOf(await userToken(registered, {}, { alg }))).toContain(`its alg is "${alg}"`)
  })

  it('refuses ES256', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    expect(await detailOf(await userToken(privateKey, {}, { alg: 'ES256' }))).toContain('its alg is "ES256"')
  })

  it('never takes an encryption key, a symmetric key, another algorithm or a short key from the set', async () => {
    const short = keyPair(1024)
    for (const key of [...oddKeys(), { ...short.jwk('acme-1') }]) {
      const detail = await detailOf(
        await userToken(registered),
        tenant({ jwks: { keys: [{ ...key, kid: 'acme-1' }] } }),
      )
      expect(detail).toContain('no RSA signing key of at least 2048 bits has its kid "acme-1"')
    }
  })

  it('refuses an unencoded payload and unknown critical headers', async () => {
    for (const b64 of [true, false]) {
      expect(await detailOf(forge(header({ b64, crit: ['b64'] }), claims(), 'AAAA'))).toContain('its header has crit')
    }
    expect(await detailOf(forge(header({ crit: ['x'], x: 1 }), claims(), 'AAAA'))).toContain('signed JWT')
  })
})

describe('the text of a token', () => {
  it.each([' ', '\t', '\r', '\n', '\r\n', '=', '==', '\0', '!'])('may not hold %j, in no part', async (character) => {
    const token = await userToken(registered)
    const places = [
      0,
      token.indexOf('.'),
      token.indexOf('.') + 1,
      token.lastIndexOf('.'),
      token.length - 7,
      token.length,
    ]
    for (const at of places) {
      const other = token.slice(0, at) + character + token.slice(at)
      await expect(verifier.verify(other, acme)).rejects.toThrow('is not a signed JWT of three base64url parts')
    }
    expect(await verifier.verify(token, acme)).toEqual({ sub: 'alice' })
  })
})

describe('kid', () => {
  it('must be there', async () => {
    expect(await detailOf(await userToken(registered, {}, { kid: undefined }))).toContain('no kid')
    expect(await detailOf(await userToken(registered, {}, { kid: '' }))).toContain('no kid')
    expect(await detailOf(forge(header({ kid: 7 }), claims(), 'AAAA'))).toContain('no kid')
  })

  it.each(['foreign', '__proto__', 'constructor', 'toString', '../acme-1'])('must be registered: %s', async (kid) => {
    expect(await detailOf(await userToken(registered, {}, { kid }))).toContain(JSON.stringify(kid))
  })

  it('is looked up among the keys of the calling tenant only', async () => {
    const globex = tenant({ jwks: { keys: [foreign.jwk('globex-1')] } }, { tenant_id: 'globex' })
    const token = await userToken(foreign, {}, { kid: 'globex-1' })
    expect(await verifier.verify(token, globex)).toEqual({ sub: 'alice' })
    await detailOf(token)
  })
})

describe('header and claims', () => {
  it('refuses a signature made with another key', async () => {
    expect(await detailOf(await userToken(foreign))).toContain('its signature was not made with the key "acme-1"')
  })

  it.each<[string, Record<string, unknown>, string]>([
    [
      'another issuer',
      { iss: 'https://evil.example' },
      'its iss is "https://evil.example"; expected "https://acme.example"',
    ],
    ['no issuer', { iss: undefined }, 'its claim iss is missing'],
    ['another audience', { aud: 'api://other' }, 'its aud is "api://other"; expected "api://yield-sandbox"'],
    ['an audience that only begins alike', { aud: `${AUDIENCE}/` }, 'its aud is'],
    ['no audience', { aud: undefined }, 'its claim aud is missing'],
    ['no sub', { sub: undefined }, 'its claim sub is missing'],
    ['an empty sub', { sub: '' }, 'its sub is ""'],
    ['no exp', { exp: undefined }, 'its claim exp is missing'],
    ['past expiry', { exp: seconds() - 1 }, 'it expired at'],
    ['expiry this very second', { exp: seconds() }, 'it expired at'],
    ['an absurdly early expiry', { exp: -1e300 }, 'it expired at -1e+300'],
    ['a start in the future', { nbf: seconds() + 90 }, 'it is not valid before'],
  ])('refuses %s', async (_name, changes, sentence) => {
    expect(await detailOf(await userToken(registered, changes))).toContain(sentence)
  })

  it.each([
    ['sub', 7],
    ['sub', { a: 1 }],
    ['sub', null],
    ['iat', 'now'],
    ['exp', '9999999999'],
    ['nbf', true],
  ])('refuses a wrongly typed %s: %j', async (claim, value) => {
    expect(await detailOf(await userToken(registered, { [claim]: value }))).toContain(claim)
  })

  it('refuses an exp that JSON reads as infinity', async () => {
    const encoded = forge(header(), claims()).split('.')[0]
    const payload = JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999')
    const input = `${encoded}.${Buffer.from(payload).toString('base64url')}`
    const token = `${input}.${sign('sha256', Buffer.from(input), registered.privateKey).toString('base64url')}`
    expect(await detailOf(token)).toContain('finite')
  })

  it('says the instants it compared', async () => {
    clock.stop()
    const now = Math.floor(clock.wallNow() / 1000)
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
    expect(await detailOf(await userToken(registered, { iat: now + 90 }))).toContain(
      `it was issued at ${iso(now + 90)}, in the future; at most ${iso(now + 60)} is accepted now`,
    )
    expect(await detailOf(await userToken(registered, { nbf: now + 90 }))).toContain(
      `it is not valid before ${iso(now + 90)}; it is ${iso(now)} now`,
    )
    expect(await detailOf(await userToken(registered, { exp: now }))).toContain(
      `it expired at ${iso(now)}; it is ${iso(now)} now`,
    )
  })

  it.each(['header', 'payload'])('refuses a %s that recursion does not survive', async (part) => {
    const encode = (json: string) => Buffer.from(json).toString('base64url')
    const deep = encode(`{"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)
    const parts = [encode(JSON.stringify(header())), encode(JSON.stringify(claims()))]
    parts[part === 'header' ? 0 : 1] = deep
    expect(await detailOf(`${parts.join('.')}.AAAA`)).toContain(`its ${part} nests deeper than 64 levels`)
  })

  it.each([[undefined], ['at+jwt'], ['JOSE'], [1]])('refuses typ %j', async (typ) => {
    expect(await detailOf(await userToken(registered, {}, { typ }))).toContain('expected "JWT"')
  })
})

describe('an error about a user token', () => {
  it.each([undefined, ''])('asks for one when none came: %j', async (token) => {
    const { details, cause } = await problemOf(verifier.verify(token, acme))
    expect(details.headers).toEqual({ 'www-authenticate': 'Bearer realm="user-token"' })
    expect(cause).toBeUndefined()
  })

  it('says that the one that came is invalid, and keeps what was found as its cause', async () => {
    const { details, cause } = await problemOf(verifier.verify('garbage', acme))
    expect(details.headers['www-authenticate']).toContain('realm="user-token", error="invalid_token"')
    expect(cause).toBeInstanceOf(TokenRefused)
  })

  it.each<[string, Record<string, unknown>, ErrorCode]>([
    ['of the tenant', {}, 'invalid_user_token'],
    ['of another tenant', { iss: 'https://globex.example' }, 'cross_tenant_jwt'],
    ['of nobody', { iss: 'https://evil.example' }, 'unknown_partner_issuer'],
    ['that is not there', { iss: undefined }, 'invalid_user_token'],
  ])('tells an issuer %s by its code, when that is set', async (_whose, changes, code) => {
    const token = await userToken(foreign, changes)
    const keys = new UserKeys({ clock, logger: recordedLog() })
    const issuers = new Set([ISSUER, 'https://globex.example'])
    const telling = new UserTokenVerifier({ audience: AUDIENCE, leeway: 60, clock, keys, issuers })
    expect(await problemOf(telling.verify(token, acme))).toMatchObject({ code })
    expect(await problemOf(telling.verify('garbage', acme))).toMatchObject({ code: 'invalid_user_token' })
    expect(await problemOf(verifier.verify(token, acme))).toMatchObject({ code: 'invalid_user_token' })
  })

  it('is none about a fault of the program', async () => {
    // A real source fails in no other way than by refusing.
    const failure = new TypeError('a fault of the program')
    const keys = new UserKeys({ clock, logger: recordedLog() })
    keys.of = () => ({ find: () => Promise.reject(failure) })
    const failing = new UserTokenVerifier({ audience: AUDIENCE, leeway: 60, clock, keys })
    await expect(failing.verify(await userToken(registered), acme)).rejects.toBe(failure)
  })
})

describe('what is no token', () => {
  it.each([undefined, ''])('says that the header is missing: %j', async (token) => {
    expect(await detailOf(token)).toContain('X-User-Token is missing')
  })

  it.each([
    'garbage',
    'a.b.c',
    '..',
    '...',
    'Bearer x.y.z',
    '€.€.€',
    'eyJhbGciOiJSUzI1NiJ9.e30.',
    `${'A'.repeat(8000)}.x.y`,
    forge(null, {}),
    forge([], []),
    forge({ alg: ['RS256'], kid: 'acme-1' }, {}),
    forge({ alg: 'RS256', kid: 'acme-1', typ: 'JWT' }, 'text', '!!'),
  ])('refuses %.20s', async (token) => {
    await detailOf(token)
  })

  it('refuses every truncation and every single changed character of a good token', async () => {
    const token = await userToken(registered)
    for (let at = 1; at < token.length; at += 41) {
      await detailOf(token.slice(0, at))
      await detailOf(`${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`)
    }
  })
})

describe('remembering', () => {
  it('computes the signature of a token once, also for simultaneous uses', async () => {
    const token = await userToken(registered)
    const verify = vi.spyOn(crypto.subtle, 'verify')
    try {
      await Promise.all(Array.from({ length: 20 }, () => verifier.verify(token, acme)))
      await verifier.verify(token, structuredClone(acme))
      expect(verify).toHaveBeenCalledTimes(1)
      verifier.clear()
      await verifier.verify(token, acme)
      expect(verify).toHaveBeenCalledTimes(2)
    } finally {
      verify.mockRestore()
    }
  })

  it('ends with the token, and when wall-clock time goes back before its start', async () => {
    const token = await userToken(registered, { nbf: seconds() })
    await verifier.verify(token, acme)
    clock.ahead = 3_601_000
    expect(await detailOf(token)).toContain('it expired at')
    clock.ahead = -70_000
    expect(await detailOf(token)).toContain('it is not valid before')
  })

  it('ends in the very second of expiry', async () => {
    clock.stop()
    const token = await userToken(registered, { exp: Math.floor(clock.wallNow() / 1000) + 10 })
    clock.ahead = 9_000
    expect(await verifier.verify(token, acme)).toEqual({ sub: 'alice' })
    clock.ahead = 10_000
    expect(await detailOf(token)).toContain('it expired at')
  })

  it('does not depend on business time', async () => {
    clock.advance(8 * 24 * 60 * 60 * 1000)
    expect(await verifier.verify(await userToken(registered), acme)).toEqual({ sub: 'alice' })
  })

  it('is not shared between tenants', async () => {
    const token = await userToken(registered)
    await verifier.verify(token, acme)
    await detailOf(token, tenant(acme.user_keys, { tenant_id: 'globex', issuer: 'https://globex.example' }))
    await detailOf(token, { ...acme, issuer: 'https://renamed.example' })
    await detailOf(token, { ...acme, user_keys: { jwks: { keys: [foreign.jwk('acme-1')] } } })
  })
})

it('a source of keys is opened once, and anew when all is forgotten', () => {
  const keys = new UserKeys({ clock, logger: recordedLog() })
  const opened = keys.of(acme.user_keys)
  expect(keys.of(structuredClone(acme.user_keys))).toBe(opened)
  keys.clear()
  expect(keys.of(acme.user_keys)).not.toBe(opened)
})

function privateJwk() {
  return registered.privateKey.export({ format: 'jwk' }) as Record<string, unknown>
}

/** Keys that must never verify a user token. */
function oddKeys() {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  return [
    { ...registered.jwk('enc'), use: 'enc' },
    { ...registered.jwk('rs512'), alg: 'RS512' },
    { ...registered.jwk('ops'), key_ops: ['encrypt'] },
    { kty: 'oct', kid: 'oct', k: Buffer.from(registered.publicPem).toString('base64url') },
    { ...ec, kid: 'ec' },
    { kty: 'RSA', kid: 'broken', n: '', e: 'AQAB' },
    { kty: 'RSA', kid: 'broken', n: 7 as unknown as string, e: '!' },
  ]
}
