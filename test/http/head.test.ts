import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { expectIdentified, goodHeaders, send } from './raw-http.ts'

let sandbox: SandboxHandle
let good: Record<string, string>
beforeAll(async () => {
  sandbox = await testNamespace()
  good = await goodHeaders(new Partner(sandbox))
})
afterAll(() => sandbox.stop())

/** What differs between any two answers. */
const OWN = ['date', 'x-service-request-id', 'content-length', 'last-modified']

const ask = async (method: string, path: string, headers: Record<string, string> = good) => {
  const answer = await send(sandbox.baseUrl, { method, path, headers })
  expectIdentified(answer)
  const shared = Object.entries(answer.headers).filter(([name]) => !OWN.includes(name))
  return { ...answer, shared: Object.fromEntries(shared) }
}

const SERVED = [
  '/v1/partner/pools',
  '/v1/partner/end_users/alice/portfolios',
  '/v1/partner/end_users/alice/transactions',
  '/_sandbox/health',
  '/_sandbox/ready',
  '/_sandbox/credentials',
  '/_sandbox/assumptions',
  '/_sandbox/clock',
  '/_sandbox/faults',
  '/_sandbox/scenarios',
  '/_sandbox/audit',
  '/_sandbox/money',
  '/_sandbox/transactions',
  '/.well-known/openid-configuration',
  '/.well-known/jwks.json',
  '/openapi.json',
  '/docs',
  '/docs/docs.css',
]

describe('HEAD wherever GET is (RFC 9110 §9.3.2)', () => {
  test.each(SERVED)('%s: the same headers, no body', async (path) => {
    const whole = await ask('GET', path)
    const head = await ask('HEAD', path)
    expect(whole.status).toBeLessThan(400)
    expect(head).toMatchObject({ status: whole.status, text: '', shared: whole.shared })
    expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(whole.text))
  })

  test.each([
    ['/v1/partner/pools', {}, 401],
    ['/v1/partner/end_users/nobody/portfolios', undefined, 403],
    ['/v1/partner/pools?limit=0', undefined, 400],
    ['/_sandbox/clock', { host: 'evil.example' }, 403],
    ['/nowhere', undefined, 404],
    ['/docs/nothing', undefined, 404],
  ])('%s is refused as GET is', async (path, headers, status) => {
    const whole = await ask('GET', path, headers)
    const head = await ask('HEAD', path, headers)
    expect(whole.status).toBe(status)
    expect(head).toMatchObject({ status, text: '', shared: whole.shared })
  })

  test('the connection serves on, also under faults that change the body', async () => {
    for (const fault of [
      'unknown_fields',
      'error; status=503',
      'latency; bytes_per_second=100000',
      'malformed_body; how=cut',
    ]) {
      const headers = { ...good, 'x-sandbox-fault': fault }
      const { status, text } = await ask('HEAD', '/v1/partner/pools', headers)
      expect([fault, text, status]).toEqual([fault, '', expect.any(Number)])
    }
    const lines = ['/v1/partner/pools', '/_sandbox/health'].map((path) => [path, 'HEAD', 'GET'] as const)
    for (const [path, ...methods] of lines) {
      for (const method of methods) {
        const answer = await fetch(`${sandbox.baseUrl}${path}`, { method, headers: good })
        expect([answer.status, (await answer.text()).length > 0]).toEqual([200, method === 'GET'])
      }
    }
  })
})

describe('OPTIONS (RFC 9110 §9.1: optional)', () => {
  test('is refused with what is allowed, and allows no page of another origin', async () => {
    const { status, headers } = await ask('OPTIONS', '/v1/partner/pools', { origin: 'https://app.example' })
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  })
})
