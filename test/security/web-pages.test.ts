import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle, SandboxOptions } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { goodHeaders, type RawAnswer, send } from '../http/raw-http.ts'

const PATHS = [
  '/v1/partner/pools',
  '/v1/partner/end_users',
  '/v1/partner/end_users/alice/deposit',
  '/oauth2/token',
  '/.well-known/jwks.json',
  '/_sandbox/credentials',
  '/rpc/31337',
]
const ORIGINS = ['https://evil.example', 'http://localhost:3000', 'null']

const permissions = ({ headers }: RawAnswer) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))

describe.each<[string, SandboxOptions]>([
  ['on loopback', {}],
  ['on every interface', { host: '0.0.0.0', controlToken: 'correct-horse' }],
])('%s', (_, options) => {
  let sandbox: SandboxHandle
  beforeAll(async () => {
    sandbox = await testSandbox(options)
  })
  afterAll(() => sandbox.stop())

  test.each(PATHS)('no page gets permission to read %s, or to send it a header', async (path) => {
    for (const origin of [...ORIGINS, sandbox.baseUrl]) {
      const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
      const preflight = await send(sandbox.baseUrl, { method: 'OPTIONS', path, headers: { origin, ...asked } })
      expect(preflight.status).toBeGreaterThanOrEqual(400)
      expect(permissions(preflight)).toEqual([])
      const headers = { ...(await goodHeaders(new Partner(sandbox))), origin }
      for (const method of ['GET', 'POST']) {
        expect(
          permissions(await send(sandbox.baseUrl, { method, path, headers, ...(method === 'POST' && { body: '{}' }) })),
        ).toEqual([])
      }
    }
  })

  // A form or an image needs no permission to be sent, and carries neither JSON nor tokens.
  test('what a page sends without permission changes nothing', async () => {
    await sandbox.clock.freeze()
    const before = await sandbox.clock.iso()
    const types = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain']
    for (const path of [
      '/v1/partner/end_users',
      '/_sandbox/clock',
      '/_sandbox/reset',
      '/_sandbox/faults',
      '/rpc/31337',
    ]) {
      for (const type of types) {
        const headers = { origin: 'https://evil.example', 'content-type': type }
        const { status } = await send(sandbox.baseUrl, { method: 'POST', path, headers, body: '{"advance":"1d"}' })
        expect({ path, status }).toEqual({ path, status: expect.toBeOneOf([401, 403, 415]) })
      }
    }
    expect(await sandbox.clock.iso()).toBe(before)
  })

  test.each(['/', '/docs', '/_sandbox/report?format=html'])(
    'the page at %s stands in no frame of another page',
    async (path) => {
      const headers = { accept: 'text/html', authorization: `Bearer ${options.controlToken}` }
      const answer = await send(sandbox.baseUrl, { path, headers })
      expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)])
      expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    },
  )

  test('the inspector has no script but the files that it is served with, and nothing of others', async () => {
    const { text } = await send(sandbox.baseUrl, { path: '/', headers: { accept: 'text/html' } })
    const scripts = [...text.matchAll(/<script\b([^>]*)>([^<]*)/g)].map(([, attributes, content]) => [
      attributes,
      content,
    ])
    const file = expect.stringMatching(/ src="\/inspector\/[^"]+"/)
    expect(scripts).toEqual([
      [file, ''],
      [file, ''],
    ])
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|https?:/i)
    for (const [, file = ''] of text.matchAll(/(?:src|href)="(\/[^"]*)"/g)) {
      expect((await send(sandbox.baseUrl, { path: file })).status).toBe(200)
    }
  })
})
