import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { expectRefusal, goodHeaders, type RawAnswer, send, sendBytes } from '../http/raw-http.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())

/** Control routes that take no body, and what they answer. */
const ROUTES: [method: string, path: string, status: number][] = [
  ['POST', 'scenarios/stop', 200],
  ['POST', 'scenarios/unknown/start', 404],
  ['DELETE', 'faults', 204],
  ['DELETE', 'faults/fault-1', 404],
  ['POST', 'reset', 200],
]
const TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data', 'x', '']

function ask(method: string, path: string, headers: Record<string, string>, body?: string): Promise<RawAnswer> {
  return send(sandbox.baseUrl, { method, path: `/_sandbox/${path}`, headers, ...(body !== undefined && { body }) })
}

test.each(ROUTES)('%s /_sandbox/%s takes any content type, with a body or without', async (method, path, status) => {
  for (const type of TYPES) {
    const headers = { 'content-type': type }
    const answers = [await ask(method, path, headers), await ask(method, path, headers, '')]
    expect({ type, statuses: answers.map((answer) => answer.status) }).toEqual({ type, statuses: [status, status] })
  }
  for (const body of ['{}', '{', '[1', 'x'.repeat(200_000)]) {
    expect((await ask(method, path, { 'content-type': 'application/json' }, body)).status).toBe(status)
  }
  const head = `${method} /_sandbox/${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json`
  const chunked = `${head}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`
  expect((await sendBytes(sandbox.baseUrl, chunked)).status).toBe(status)
})

test('the connection goes on after a body nobody read', async () => {
  const head = (path: string, line: string) => `${path} HTTP/1.1\r\nHost: localhost\r\n${line}\r\n`
  const first = `${head('DELETE /_sandbox/faults', 'Content-Length: 12')}\r\n{"kind":"x"}`
  const answer = await sendBytes(sandbox.baseUrl, `${first}${head('GET /_sandbox/clock', 'Connection: close')}\r\n`)
  expect(answer.status).toBe(204)
  expect(answer.text).toContain('HTTP/1.1 200 OK')
})

test('a route that takes a body still wants it', async () => {
  for (const path of ['clock', 'faults', 'scenarios', 'tenants/acme/user_tokens', 'tenants/acme/idp_tokens']) {
    const answer = await ask('POST', path, { 'content-type': 'application/json' })
    expectRefusal(answer, { status: 400, code: 'validation_error', param: 'body' })
  }
})

test('on the service a content type without a body changes nothing for GET and DELETE', async () => {
  const good = await goodHeaders(new Partner(sandbox))
  for (const type of TYPES) {
    const headers = { ...good, 'content-type': type }
    expect((await send(sandbox.baseUrl, { path: '/v1/partner/pools', headers })).status).toBe(200)
    const refused = await send(sandbox.baseUrl, { method: 'DELETE', path: '/v1/partner/pools', headers })
    expectRefusal(refused, { status: 405, code: 'method_not_allowed', param: 'method' })
  }
})
