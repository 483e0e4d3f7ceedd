import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())

const root = (accept: string, method = 'GET') =>
  fetch(sandbox.baseUrl, { method, redirect: 'manual', headers: { accept } })

test('a browser that comes to the origin is led to the description', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const response = await root(accept)
  expect(response.status).toBe(302)
  expect(response.headers.get('location')).toBe('/docs')
  expect(response.headers.get('vary')).toBe('Accept')
  const page = await fetch(sandbox.baseUrl, { headers: { accept } })
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
})

test.each(['*/*', 'application/json', ''])('nothing is served there to who accepts %j', async (accept) => {
  const response = await root(accept)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ code: 'not_found' })
})
