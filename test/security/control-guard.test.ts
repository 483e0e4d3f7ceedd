import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'
import { expectRefusal, type RawAnswer, send } from '../http/raw-http.ts'

/** Everything the control interface guards, with a body that would work. */
const GUARDED: [string, string, string?][] = [
  ['GET', 'credentials'],
  ['GET', 'assumptions'],
  ['GET', 'audit'],
  ['GET', 'clock'],
  ['POST', 'clock', '{"advance":"1ms"}'],
  ['GET', 'faults'],
  ['POST', 'faults', '[]'],
  ['DELETE', 'faults'],
  ['DELETE', 'faults/fault-1'],
  ['POST', 'tenants/acme/user_tokens', '{"external_id":"alice"}'],
  ['POST', 'tenants/acme/idp_tokens', '{}'],
  ['GET', 'scenarios'],
  ['POST', 'scenarios', '{"name":"rainy-day","description":"x"}'],
  ['POST', 'scenarios/stop'],
  ['POST', 'scenarios/dropped-deposit/start'],
  ['POST', 'reset'],
]
const OPEN = ['health', 'ready']

let sandbox: SandboxHandle
function ask(method: string, path: string, headers: Record<string, string>, body?: string): Promise<RawAnswer> {
  const typed = body === undefined ? headers : { ...headers, 'content-type': 'application/json' }
  return send(sandbox.baseUrl, {
    method,
    path: `/_sandbox/${path}`,
    headers: typed,
    ...(body !== undefined && { body }),
  })
}

describe('on loopback', () => {
  beforeAll(async () => {
    sandbox = await testSandbox()
  })
  afterAll(() => sandbox.stop())

  const foreign = [
    'https://evil.example',
    'http://localhost:3000',
    'null',
    'file://',
    'http://127.0.0.1.evil.example',
    '',
  ]

  test.each(GUARDED)('%s %s is refused to web pages of other origins', async (method, path, body) => {
    for (const origin of [...foreign, sandbox.baseUrl.replace('http:', 'https:')]) {
      const answer = await ask(method, path, { origin }, body)
      expectRefusal(answer, { status: 403, code: 'control_forbidden', param: 'Origin' })
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })

  test.each(GUARDED)('%s %s is refused under a foreign Host, as after DNS rebinding', async (method, path, body) => {
    const { port } = new URL(sandbox.baseUrl)
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '192.0.2.1',
      '0.0.0.0',
    ]
    for (const host of [...hosts, '[::2]', '1270.0.0.1']) {
      const refusal = { status: 403, code: 'control_forbidden', param: 'Host' }
      expectRefusal(await ask(method, path, { host }, body), refusal)
      // The page's own origin then matches the Host: it is no less foreign.
      expectRefusal(await ask(method, path, { host, origin: `http://${host}` }, body), refusal)
    }
  })

  test('is open under every name of loopback, to its own origin too', async () => {
    const { port } = new URL(sandbox.baseUrl)
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', '127.1.2.3']) {
      for (const host of [name, `${name}:${port}`]) {
        expect((await ask('GET', 'credentials', { host })).status).toBe(200)
        expect((await ask('GET', 'credentials', { host, origin: `http://${host}` })).status).toBe(200)
      }
    }
  })

  test('answers no preflight, so that no page may send JSON', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const path of ['reset', 'clock', 'faults']) {
      const answer = await ask('OPTIONS', path, headers)
      expect(answer.status).toBeOneOf([404, 405])
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  test('health and ready tell everybody', async () => {
    for (const path of OPEN) {
      expect((await ask('GET', path, { host: 'evil.example', origin: 'https://evil.example' })).status).toBe(200)
    }
  })
})

describe('with a control token', () => {
  const token = 'correct-horse'
  const bearer = { authorization: `Bearer ${token}` }
  beforeAll(async () => {
    sandbox = await testSandbox({ controlToken: token })
  })
  afterAll(() => sandbox.stop())

  test.each(GUARDED)('%s %s asks for it', async (method, path, body) => {
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer wrong',
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
    ]
    for (const authorization of wrong.filter((value) => value !== token)) {
      const answer = await ask(method, path, { authorization }, body)
      expectRefusal(answer, { status: 401, code: 'control_token_required', param: 'Authorization' })
    }
    expectRefusal(await ask(method, path, {}, body), { status: 401, code: 'control_token_required' })
    const refused = await ask(method, path, { ...bearer, origin: 'https://evil.example' }, body)
    expectRefusal(refused, { status: 403, code: 'control_forbidden', param: 'Origin' })
    const answer = await ask(method, path, { ...bearer, host: 'sandbox.internal' }, body)
    expect(answer.status).toBeOneOf([200, 201, 204, 404])
    expect(answer.status === 404).toBe(path === 'faults/fault-1')
  })

  test('health and ready need none', async () => {
    for (const path of OPEN) expect((await ask('GET', path, {})).status).toBe(200)
  })

  test('the service itself needs none, and takes no control token for one of its own', async () => {
    expectRefusal(await send(sandbox.baseUrl, { path: '/v1/partner/pools', headers: bearer }), {
      status: 401,
      code: 'invalid_idp_token',
    })
  })
})

describe('on a host that is not loopback', () => {
  test('a control token is required even when none was given', async () => {
    sandbox = await testSandbox({ host: '0.0.0.0' })
    try {
      const refusal = { status: 401, code: 'control_token_required' }
      for (const [method, path, body] of GUARDED) expectRefusal(await ask(method, path, {}, body), refusal)
      for (const path of OPEN) expect((await ask('GET', path, {})).status).toBe(200)
    } finally {
      await sandbox.stop()
    }
  })
})
