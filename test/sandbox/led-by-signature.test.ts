import { createHmac, createPublicKey, sign } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SandboxHandle, TokenWish } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { idpToken, seconds, strangersKey } from '../helpers/tokens.ts'

let sandbox: SandboxHandle
let mine: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
  mine = await sandbox.namespaces.create({ name: 'mine' })
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  for (const { faults, requests } of [sandbox, mine]) {
    await faults.clear()
    await requests.clear()
  }
})

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Asks for the pools with this token, and says what came of it and in whose record it stands. */
async function ask(token: string): Promise<{ status: number; code: string | undefined; record: string[] }> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${sandbox.baseUrl}/v1/partner/pools`, { headers })
  const { code } = (await response.json()) as { code?: string }
  const id = response.headers.get('x-service-request-id')!
  const known = await Promise.all(
    Object.entries({ default: sandbox, mine }).map(async ([name, { requests }]) => {
      const { data } = await requests.list({ limit: 100 })
      return data.some(({ request_id }) => request_id === id) ? [name] : []
    }),
  )
  return { status: response.status, code, record: known.flat() }
}

const struck = () =>
  mine.faults.add({ kind: 'error', match: { operation: 'list_pools' }, with: { code: 'rate_limited' } })

/** Claims of a good token of a client of `mine`. */
async function claims(): Promise<object> {
  const [, payload = ''] = (await new Partner(mine).idpToken()).split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}

const key = strangersKey()
const FORGERIES: [string, () => Promise<string>][] = [
  ['without a signature', async () => `${part({ alg: 'none' })}.${part(await claims())}.`],
  ['of the client id alone', async () => `${part({ alg: 'none' })}.${part({ appid: mine.tenants[0]!.client_id })}.`],
  ['signed by a stranger', async () => idpToken(mine, {}, key)],
  [
    'signed with the public key as a shared secret',
    async () => {
      const { keys } = (await (await fetch(`${sandbox.baseUrl}/.well-known/jwks.json`)).json()) as { keys: object[] }
      const pem = createPublicKey({ key: keys[0] as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
      const input = `${part({ alg: 'HS256', kid: 'sandbox-idp-1', typ: 'JWT' })}.${part(await claims())}`
      return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`
    },
  ],
  [
    "signed with a tenant's key",
    async () => {
      const input = `${part({ alg: 'RS256', kid: 'sandbox-idp-1', typ: 'JWT' })}.${part(await claims())}`
      return `${input}.${sign('sha256', Buffer.from(input), mine.tenants[0]!.private_key_pem!).toString('base64url')}`
    },
  ],
  [
    'whose client was replaced',
    async () => {
      const [head, , signature] = (await new Partner(sandbox).idpToken()).split('.')
      return [head, part(await claims()), signature].join('.')
    },
  ],
]

test.each(FORGERIES)(
  'a token %s spends no fault of the namespace it names and is in no record of it',
  async (_, forge) => {
    const [rule] = await struck()
    expect(await ask(await forge())).toEqual({ status: 401, code: 'invalid_idp_token', record: ['default'] })
    expect(await mine.faults.list()).toMatchObject([{ id: rule!.id, hits: 0 }])
    expect(await ask(await new Partner(mine).idpToken())).toMatchObject({ status: 429, record: ['mine'] })
  },
)

const GENUINE: [string, TokenWish, string][] = [
  ['has expired', { expiresIn: -60 }, 'invalid_idp_token'],
  ['is not valid yet', { claims: { nbf: seconds() + 3600 } }, 'invalid_idp_token'],
  ['has no expiry', { claims: { exp: null } }, 'invalid_idp_token'],
  ['is for another audience', { claims: { aud: 'api://another' } }, 'invalid_idp_token'],
  ['has another issuer', { claims: { iss: 'https://idp.example' } }, 'invalid_idp_token'],
  ['is of another tenant', { claims: { tid: 'another' } }, 'invalid_idp_token'],
  ['is of another version', { claims: { ver: '2.0' } }, 'invalid_idp_token'],
  ['names another key', { header: { kid: 'another' } }, 'invalid_idp_token'],
  ['names no key', { header: { kid: null } }, 'invalid_idp_token'],
  ['is signed with another algorithm', { header: { alg: 'RS512' } }, 'invalid_idp_token'],
  ["is signed with the sandbox's unknown key", { key: 'unknown' }, 'invalid_idp_token'],
]

test.each(GENUINE)('a token of the sandbox that %s is judged in its namespace', async (_, wish, code) => {
  const token = await mine.idpToken(wish)
  for (let i = 0; i < 2; i++) expect(await ask(token)).toEqual({ status: 401, code, record: ['mine'] })
})

test('a token of a deleted namespace does not lead to the next one of its name', async () => {
  const first = await sandbox.namespaces.create({ name: 'again' })
  const token = await new Partner(first).idpToken()
  await first.stop()
  await using second = await sandbox.namespaces.create({ name: 'again' })
  await second.faults.add({ kind: 'error', match: { operation: 'list_pools' }, with: { code: 'rate_limited' } })
  expect(await ask(token)).toEqual({ status: 401, code: 'unknown_partner', record: ['default'] })
  expect(await second.faults.list()).toMatchObject([{ hits: 0 }])
})
