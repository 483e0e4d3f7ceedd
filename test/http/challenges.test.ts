import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { goodHeaders, send } from './raw-http.ts'

const CONTROL_TOKEN = 'correct-horse'

let sandbox: SandboxHandle
let good: Record<string, string>
beforeAll(async () => {
  sandbox = await testSandbox({ controlToken: CONTROL_TOKEN })
  good = { ...(await goodHeaders(new Partner(sandbox))), 'x-sandbox-control-token': CONTROL_TOKEN }
})
afterAll(() => sandbox.stop())

const PORTFOLIOS = '/v1/partner/end_users/alice/portfolios'

/** Status and challenge of a request with the good headers but these; null leaves one out. */
async function challenged(path: string, changed: Record<string, string | null>) {
  const sent = Object.entries({ ...good, ...changed }).filter((entry): entry is [string, string] => entry[1] !== null)
  const { status, headers } = await send(sandbox.baseUrl, { path, headers: Object.fromEntries(sent) })
  return `${status} ${headers['www-authenticate']}`
}

const refused = (realm: string, why: string) =>
  `401 Bearer realm="${realm}", error="invalid_token", error_description="${why}"`

describe('a 401 has a challenge (RFC 9110 §15.5.2, RFC 6750 §3)', () => {
  test('no bearer token: the realm alone', async () => {
    for (const authorization of [null, 'Basic eDp5', 'Bearer', 'Bearer ']) {
      expect(await challenged(PORTFOLIOS, { authorization })).toBe('401 Bearer realm="partner-api"')
    }
  })

  test('a bad token: that it is the token, and nothing of the token', async () => {
    const answer = await challenged(PORTFOLIOS, { authorization: 'Bearer x.y.z' })
    expect(answer).toBe(refused('partner-api', 'The identity-provider token is not valid'))
    const unknown = await challenged(PORTFOLIOS, { 'x-sandbox-fault': 'unknown_partner' })
    expect(unknown).toBe(refused('partner-api', 'The partner application is not registered'))
  })

  test('the user token has a realm of its own: a new access token would not help', async () => {
    expect(await challenged(PORTFOLIOS, { 'x-user-token': null })).toBe('401 Bearer realm="user-token"')
    const answer = await challenged(PORTFOLIOS, { 'x-user-token': 'x.y.z' })
    expect(answer).toBe(refused('user-token', 'The user token is not valid'))
    const struck = await challenged(PORTFOLIOS, { 'x-sandbox-fault': 'bad_signature; token=user' })
    expect(struck).toBe(refused('user-token', 'The user token is not valid'))
  })

  test('the control token has another one', async () => {
    const path = '/_sandbox/clock'
    expect(await challenged(path, { authorization: null })).toBe('401 Bearer realm="control"')
    expect(await challenged(path, { authorization: 'Bearer wrong' })).toBe(
      refused('control', 'The control token is missing or wrong'),
    )
    const fault = { 'x-sandbox-fault': 'error', 'x-sandbox-control-token': null }
    expect(await challenged(PORTFOLIOS, fault)).toBe('401 Bearer realm="control"')
    expect(await challenged(path, { authorization: `Bearer ${CONTROL_TOKEN}` })).toBe('200 undefined')
  })

  test('the token endpoint names HTTP Basic to those who used the header (RFC 6749 §5.2)', async () => {
    const ask = async (headers: Record<string, string>, body: Record<string, string> = {}) => {
      const form = new URLSearchParams({ grant_type: 'client_credentials', scope: 'x', ...body })
      const answer = await fetch(sandbox.authUrl, { method: 'POST', headers, body: form })
      return `${answer.status} ${answer.headers.get('www-authenticate')}`
    }
    expect(await ask({ authorization: 'Basic eDp5' })).toBe('401 Basic realm="identity-provider", charset="UTF-8"')
    expect(await ask({}, { client_id: 'x', client_secret: 'y' })).toBe('401 null')
  })

  test('other refusals have none', async () => {
    expect(await challenged('/v1/partner/end_users/bob/portfolios', {})).toBe('403 undefined')
    expect(await challenged('/v1/partner/nowhere', {})).toBe('404 undefined')
  })
})

describe('Retry-After', () => {
  const retryAfter = async (path: string, fault: string, init: RequestInit = {}) => {
    const headers = { ...good, 'x-sandbox-fault': fault }
    const answer = await fetch(`${sandbox.baseUrl}${path}`, { headers, ...init })
    return [answer.status, answer.headers.get('retry-after')]
  }
  const pools = (fault: string) => retryAfter('/v1/partner/pools', fault)

  test.each(['on_request', 'during_response'])('is there with 429 and 503 that a fault answers %s', async (phase) => {
    expect(await pools(`error; status=429; phase=${phase}`)).toEqual([429, '1'])
    expect(await pools(`error; code=chain_unavailable; phase=${phase}`)).toEqual([503, '1'])
    expect(await pools(`error; status=502; phase=${phase}`)).toEqual([502, null])
  })

  test.each(['on_request', 'during_response'])('unless the fault says otherwise, %s', async (phase) => {
    expect(await pools(`error; status=429; retry_after=7; phase=${phase}`)).toEqual([429, '7'])
    expect(await pools(`error; status=429; retry_after=0; phase=${phase}`)).toEqual([429, '0'])
    expect(await pools(`error; status=503; retry_after=none; phase=${phase}`)).toEqual([503, null])
  })

  test('is there at the token endpoint too', async () => {
    const [tenant] = sandbox.tenants
    const form = {
      client_id: tenant!.client_id,
      client_secret: tenant!.client_secret,
      scope: 'api://yield-sandbox/.default',
    }
    const token = (fault: string) => {
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...form })
      const headers = { 'x-sandbox-fault': fault, 'x-sandbox-control-token': CONTROL_TOKEN }
      return retryAfter('/oauth2/token', fault, { method: 'POST', body, headers })
    }
    expect(await token('token_endpoint_error')).toEqual([503, '1'])
    expect(await token('token_endpoint_error; error=server_error; status=429')).toEqual([429, '1'])
    expect(await token('error; code=rate_limited')).toEqual([429, '1'])
  })
})
