import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { isOpen } from '../helpers/confirmation.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, Partner, testNamespace } from '../helpers/partner.ts'
import { struck } from './struck.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  await acme.idpToken()
})
afterAll(() => sandbox.stop())
afterEach(() => sandbox.faults.clear())

const fault = async (rule: FaultRule) => (await sandbox.faults.add(rule))[0]!

/** A request to the token endpoint, by a correct client. */
async function token(headers: Record<string, string> = {}): Promise<Answer> {
  const { client_id, client_secret } = sandbox.tenants.find(({ slug }) => slug === 'acme')!
  const { scope } = await sandbox.credentials()
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
  const response = await fetch(sandbox.authUrl, { method: 'POST', body, headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const poolsWith = (accessToken: string) =>
  acme.get('pools', { headers: { authorization: `Bearer ${accessToken}` } }).then(outcome)

const KINDS = ['bad_signature', 'token_expired', 'token_wrong_audience'] as const

describe.each(KINDS)('%s', (kind) => {
  test('refuses a genuine user token, on operations that take one', async () => {
    await fault({ kind })
    expect(outcome(await acme.get('pools'))).toBe('200')
    const refused = await acme.get('end_users/alice/portfolios')
    expect(outcome(refused)).toBe('401 invalid_user_token')
    expect(refused.body.param).toBe('X-User-Token')
    expect(outcome(await acme.get('end_users/alice/portfolios'))).toBe('200')
  })

  test('refuses a genuine identity-provider token', async () => {
    await fault({ kind, with: { token: 'idp' } })
    expect((await token()).status).toBe(200)
    expect(outcome(await acme.get('pools'))).toBe('401 invalid_idp_token')
    expect(outcome(await acme.get('pools'))).toBe('200')
  })

  test('on the operation token: a bad one is issued that looks good, and refused', async () => {
    await fault({ kind, with: { token: 'idp' }, match: { operation: 'token' } })
    const issued = await token()
    expect(issued).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } })
    expect(await poolsWith(issued.body.access_token)).toBe('401 invalid_idp_token')
    expect(await poolsWith((await token()).body.access_token)).toBe('200')
  })
})

test('short_lived_token: a token for so many seconds', async () => {
  await fault({ kind: 'short_lived_token', with: { expires_in: 61 } })
  const { body } = await token()
  expect(body.expires_in).toBe(61)
  const { iat, exp } = decodeJwt(body.access_token)
  expect(exp! - iat!).toBe(61)
  expect(await poolsWith(body.access_token)).toBe('200')
})

test.each([
  [{}, 503, 'temporarily_unavailable'],
  [{ error: 'invalid_client' }, 401, 'invalid_client'],
  [{ error: 'invalid_scope' }, 400, 'invalid_scope'],
  [{ error: 'server_error', status: 502 }, 502, 'server_error'],
] as const)('token_endpoint_error %j: %i %s', async (parameters, status, error) => {
  await fault({ kind: 'token_endpoint_error', with: parameters })
  const refused = await token()
  expect(refused).toMatchObject({ status, body: { error, error_description: expect.any(String) } })
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect((await token()).status).toBe(200)
})

describe('faults of every operation strike the token endpoint too', () => {
  const match = { operation: 'token', tenant: 'acme' } as const

  test('error, in the form of RFC 6749', async () => {
    for (const phase of ['on_request', 'during_response'] as const) {
      await fault({ kind: 'error', phase, match, with: { status: 429, retry_after: 5 } })
      const refused = await token()
      expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
      expect(refused.headers.get('retry-after')).toBe('5')
    }
  })

  test.each(['on_request', 'during_response'] as const)('drop_connection %s', async (phase) => {
    await fault({ kind: 'drop_connection', phase, match })
    await expect(token()).rejects.toThrow()
  })

  test.each(['on_request', 'during_response'] as const)('hang %s', async (phase) => {
    await fault({ kind: 'hang', phase, match })
    const request = token()
    request.catch(() => undefined)
    await struck(sandbox)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.faults.clear()
    await expect(request).rejects.toThrow()
  })

  test('unknown_fields, malformed_body', async () => {
    await fault({ kind: 'unknown_fields', match })
    expect((await token()).body).toMatchObject({ token_type: 'Bearer', added_flag: true })
    await fault({ kind: 'malformed_body', match, with: { how: 'cut' } })
    await expect(token()).rejects.toThrow(SyntaxError)
  })

  test('a tenant that does not match is left alone', async () => {
    await fault({ kind: 'error', match: { operation: 'token', tenant: 'globex' } })
    expect((await token()).status).toBe(200)
  })
})

describe('X-Sandbox-Fault', () => {
  test('brings a fault for the token request along', async () => {
    expect(await token({ 'x-sandbox-fault': 'short_lived_token; expires_in=45' })).toMatchObject({
      body: { expires_in: 45 },
    })
    const bad = (await token({ 'x-sandbox-fault': 'bad_signature; token=idp' })).body.access_token
    expect(await poolsWith(bad)).toBe('401 invalid_idp_token')
  })

  test('that is wrong is a 400 in the form of RFC 6749 that says what', async () => {
    const refused = await token({ 'x-sandbox-fault': 'short_lived_token; expires_i=45' })
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(refused.body.error_description).toContain("expires_i: is not a known field; did you mean 'expires_in'?")
  })
})
