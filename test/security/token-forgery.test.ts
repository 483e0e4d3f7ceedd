import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle, TenantCredentials } from '../../src/index.ts'
import { type Answer, Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let tenant: TenantCredentials
let publicPem: string
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  tenant = sandbox.tenants.find(({ slug }) => slug === 'acme')!
  publicPem = createPublicKey(tenant.private_key_pem!).export({ type: 'spki', format: 'pem' }).toString()
})
afterAll(() => sandbox.stop())

type Json = Record<string, unknown>
const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url')
const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PKCS1 = { type: 'pkcs1', format: 'pem' } as const

/** A token of any header and claims, signed by whatever means. */
function forge(header: Json, claims: Json, signature: (input: string) => Buffer): string {
  const input = `${part(header)}.${part(claims)}`
  return `${input}.${signature(input).toString('base64url')}`
}

const rs256 = (key: KeyObject | string) => (input: string) => sign('sha256', Buffer.from(input), key)
const hs256 = (secret: string | Buffer) => (input: string) => createHmac('sha256', secret).update(input).digest()
const none = () => Buffer.alloc(0)

/** Texts that a lenient decoder takes for the same token, as far as a header can carry them. */
function otherTexts(token: string): string[] {
  const parts = token.split('.')
  const changes = [
    (part: string) => `${part.slice(0, 5)} ${part.slice(5)}`,
    (part: string) => `${part.slice(0, 5)}\t${part.slice(5)}`,
    (part: string) => `${part}=`,
    (part: string) => `${part}==`,
    (part: string) => `${part.slice(0, 5)}=${part.slice(5)}`,
    (part: string) => `${part.slice(0, 5)}!${part.slice(5)}`,
    withUnusedBits,
  ]
  return parts.flatMap((part, i) => changes.map((change) => parts.with(i, change(part)).join('.')))
}

/** Another last character for the same bytes; where all of its bits are used, one character more. */
function withUnusedBits(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  if (part.length % 4 === 0) return `${part}A`
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1)!) + 1]
}

function claims(change: Json = {}): Json {
  const now = Math.floor(Date.now() / 1000)
  return { sub: 'alice', iss: tenant.issuer, aud: 'api://yield-sandbox', iat: now, exp: now + 3600, ...change }
}
const header = (change: Json = {}): Json => ({ alg: 'RS256', kid: tenant.kid, typ: 'JWT', ...change })

const askAs = (token: string): Promise<Answer> =>
  acme.get('end_users/alice/portfolios', { headers: { 'x-user-token': token } })

async function expectRefused(token: string): Promise<void> {
  const { status, body } = await askAs(token)
  expect({ status, code: body.code, param: body.param }).toEqual({
    status: 401,
    code: 'invalid_user_token',
    param: 'X-User-Token',
  })
}

describe('a user token', () => {
  test('signed by the partner itself is let in, so that the others fail for what is wrong with them', async () => {
    expect((await askAs(forge(header(), claims(), rs256(tenant.private_key_pem!)))).status).toBe(200)
  })

  test('without a signature is refused, however its alg is spelled', async () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null, undefined]) {
      await expectRefused(forge(header({ alg }), claims(), none))
    }
    await expectRefused(forge(header(), claims(), none))
    await expectRefused(`${part(header())}.${part(claims())}`)
  })

  test('signed with the public key as an HMAC secret is refused', async () => {
    const der = createPublicKey(publicPem).export({ type: 'spki', format: 'der' })
    const pkcs1 = createPublicKey(publicPem).export(PKCS1).toString()
    for (const secret of [publicPem, publicPem.trim(), pkcs1, der, '', tenant.client_secret, tenant.kid!]) {
      for (const alg of ['HS256', 'RS256']) await expectRefused(forge(header({ alg }), claims(), hs256(secret)))
    }
  })

  test('signed with another algorithm of the right key is refused', async () => {
    const key = tenant.private_key_pem!
    const others: [string, (input: string) => Buffer][] = [
      ['RS384', (input) => sign('sha384', Buffer.from(input), key)],
      ['RS512', (input) => sign('sha512', Buffer.from(input), key)],
      ['PS256', (input) => sign('sha256', Buffer.from(input), { key, padding: 6, saltLength: 32 })],
      ['RS256', (input) => sign('sha512', Buffer.from(input), key)],
      ['RS256', (input) => sign('sha1', Buffer.from(input), key)],
    ]
    for (const [alg, signature] of others) await expectRefused(forge(header({ alg }), claims(), signature))
  })

  test('cannot bring its own key along', async () => {
    const jwk = own.publicKey.export({ format: 'jwk' })
    const pem = own.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const jku = `${sandbox.baseUrl}/.well-known/jwks.json`
    for (const change of [{ jwk }, { x5c: [pem] }, { jku }, { x5u: jku }, { kid: jwk }, { jwk, kid: undefined }]) {
      await expectRefused(forge(header(change), claims(), rs256(own.privateKey)))
    }
  })

  test('names its key by the registered id, not by a path, a query or nothing', async () => {
    const kids = [
      '',
      null,
      undefined,
      7,
      [tenant.kid],
      '../acme-1',
      "acme-1' OR '1'='1",
      '__proto__',
      'globex-1',
      'ACME-1',
    ]
    for (const kid of kids) await expectRefused(forge(header({ kid }), claims(), rs256(tenant.private_key_pem!)))
  })

  test('with an altered part is refused', async () => {
    const token = forge(header(), claims(), rs256(tenant.private_key_pem!))
    const [head = '', , signature = ''] = token.split('.')
    await expectRefused(`${head}.${part(claims({ sub: 'bob' }))}.${signature}`)
    await expectRefused(`${part(header({ x: 1 }))}.${token.split('.')[1]}.${signature}`)
    await expectRefused(`${token}.`)
    await expectRefused(`${token}.${signature}`)
    await expectRefused(`${token.slice(0, -4)}AAAA`)
    await expectRefused(`Bearer ${token}`)
    await expectRefused(`${token},${token}`)
  })

  test('has one text alone: whitespace, padding and other characters of the same bytes are refused', async () => {
    const token = forge(header(), claims(), rs256(tenant.private_key_pem!))
    for (const other of otherTexts(token)) await expectRefused(other)
    expect((await askAs(token)).status).toBe(200)
  })

  test('with claims that do not hold is refused', async () => {
    const now = Math.floor(Date.now() / 1000)
    for (const change of [
      { exp: now - 1 },
      { exp: undefined },
      { exp: 'tomorrow' },
      { exp: String(now + 3600) },
      { nbf: now + 3600 },
      { iat: now + 3600 },
      { iss: undefined },
      { iss: 'https://globex.example' },
      { iss: [tenant.issuer] },
      { aud: undefined },
      { aud: 'api://other' },
      { aud: 'api://yield-sandbox/' },
      { sub: undefined },
      { sub: '' },
      { sub: ['alice'] },
      { sub: { toString: 'alice' } },
    ]) {
      await expectRefused(forge(header(), claims(change), rs256(tenant.private_key_pem!)))
    }
    for (const typ of [undefined, 'at+jwt', 'JWE', 7]) {
      await expectRefused(forge(header({ typ }), claims(), rs256(tenant.private_key_pem!)))
    }
    await expectRefused(forge(header({ crit: ['exp'] }), claims(), rs256(tenant.private_key_pem!)))
  })

  test('is no identity-provider token, and the other way round', async () => {
    const user = await sandbox.userToken('alice')
    const refused = await acme.get('pools', { headers: { authorization: `Bearer ${user}` } })
    expect(refused).toMatchObject({ status: 401, body: { code: 'invalid_idp_token' } })
    await expectRefused(await acme.idpToken())
  })
})

describe('an identity-provider token', () => {
  test('has one text alone: whitespace, padding and other characters of the same bytes are refused', async () => {
    const token = await acme.idpToken()
    for (const other of otherTexts(token)) {
      const { status, body } = await acme.get('pools', { headers: { authorization: `Bearer ${other}` } })
      expect({ other, status, code: body.code }).toEqual({ other, status: 401, code: 'invalid_idp_token' })
    }
  })

  test('that the identity provider did not sign is refused', async () => {
    const [, payload = ''] = (await acme.idpToken()).split('.')
    const genuine = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const { keys } = (await (await fetch(`${sandbox.baseUrl}/.well-known/jwks.json`)).json()) as { keys: Json[] }
    const [jwk] = keys
    const pem = createPublicKey({ key: jwk as never, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString()
    const head = { alg: 'RS256', kid: jwk!.kid, typ: 'JWT' }
    const forged = [
      forge({ ...head, alg: 'none' }, genuine, none),
      forge({ ...head, alg: 'HS256' }, genuine, hs256(pem)),
      forge({ ...head, jwk: own.publicKey.export({ format: 'jwk' }) }, genuine, rs256(own.privateKey)),
      // A tenant's own key is trusted for its end users, never for itself.
      forge({ ...head, kid: tenant.kid }, genuine, rs256(tenant.private_key_pem!)),
      forge(head, { ...genuine, appid: sandbox.tenants[1]!.client_id }, rs256(tenant.private_key_pem!)),
    ]
    for (const token of forged) {
      const { status, body } = await acme.get('pools', { headers: { authorization: `Bearer ${token}` } })
      expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_idp_token' })
    }
  })
})
