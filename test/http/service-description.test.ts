import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { endpoints } from '../../src/partner-api/endpoints.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import type { DescribedOperation, OpenApiDocument } from './described-answers.ts'
import { expectRefusal, send } from './raw-http.ts'

let sandbox: SandboxHandle
let origin: string
let document: OpenApiDocument
beforeAll(async () => {
  sandbox = await sandboxWith((fixture) => {
    fixture.service = { base_path: '/partners/api' }
  })
  origin = new URL(sandbox.baseUrl).origin
  document = (await (await fetch(`${origin}/openapi.json?only=service`)).json()) as OpenApiDocument
})
afterAll(() => sandbox.stop())

const operations = () =>
  Object.values(document.paths).flatMap((methods) => Object.values(methods)) as DescribedOperation[]

describe('/openapi.json?only=service', () => {
  test('has the seven operations of the specification, under the base path', () => {
    expect(operations().map(({ operationId }) => operationId)).toEqual(
      endpoints(DEFAULT_SETTINGS).map(({ operation }) => operation),
    )
    expect(Object.keys(document.paths).filter((path) => !path.startsWith('/v1/partner/'))).toEqual([])
    expect(document.servers).toMatchObject([{ url: sandbox.baseUrl }])
  })

  test('keeps both tokens in importers that keep one scheme: the user token is a header of the operations that need it', () => {
    const { securitySchemes } = document.components
    expect(Object.keys(securitySchemes)).toEqual(['client_credentials'])
    for (const { operationId, security, parameters } of operations()) {
      expect([operationId, security.map((one) => Object.keys(one))]).toEqual([operationId, [['client_credentials']]])
      const { user_token } = endpoints(DEFAULT_SETTINGS).find(({ operation }) => operation === operationId)!
      const header = parameters.filter(({ name }) => name === 'X-User-Token')
      expect(header.map((one) => [one.in, one.required])).toEqual(user_token ? [['header', true]] : [])
    }
  })

  test('says by a whole address where its token comes from', async () => {
    const { flows } = document.components.securitySchemes.client_credentials as {
      flows: { clientCredentials: { tokenUrl: string; scopes: object } }
    }
    const { tokenUrl, scopes } = flows.clientCredentials
    expect(tokenUrl).toBe(sandbox.authUrl)
    const { client_id, client_secret } = sandbox.tenants[0]!
    const grant = { grant_type: 'client_credentials', client_id, client_secret, scope: Object.keys(scopes)[0]! }
    expect((await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(grant) })).status).toBe(200)
  })

  test('refers to what it has, and has what it refers to', () => {
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)]
    const names = new Set(referred.map(([, kind, name]) => `${kind} ${name}`))
    const { securitySchemes: _, ...components } = document.components
    const there = Object.entries(components).flatMap(([kind, all]) => Object.keys(all).map((name) => `${kind} ${name}`))
    expect([...names].sort()).toEqual(there.sort())
  })

  test.each([
    ['only=servise', 'only'],
    ['only=', 'only'],
    ['only=service&only=service', 'only'],
    ['onyl=service', 'onyl'],
  ])('?%s is refused', async (query, param) => {
    expectRefusal(await send(origin, { path: `/openapi.json?${query}` }), {
      status: 400,
      code: 'validation_error',
      param,
    })
  })
})

test('the description and the files of /docs are compressed for who reads that, and not sent to who has them', async () => {
  for (const path of ['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js', '/docs/docs.js']) {
    const ask = (headers: Record<string, string>) => fetch(`${origin}${path}`, { headers })
    const plain = await send(origin, { path })
    const packed = await ask({ 'accept-encoding': 'gzip' })
    expect([path, plain.headers['content-encoding'], packed.headers.get('content-encoding')]).toEqual([
      path,
      undefined,
      'gzip',
    ])
    expect(plain.headers.vary).toBe('Accept-Encoding')
    expect(await packed.text()).toBe(plain.text) // fetch has unpacked it
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(plain.text.length)
    expect(packed.headers.get('etag')).not.toBe(plain.headers.etag)
    const again = await ask({ 'accept-encoding': 'gzip', 'if-none-match': packed.headers.get('etag')! })
    expect([again.status, await again.text()]).toEqual([304, ''])
  }
})

test('the page at /docs has our name, no script in itself, and no secret', async () => {
  const { text, headers } = await send(origin, { path: '/docs' })
  expect(text).toContain('<title>yield-sandbox: Yield Portfolio Partner API</title>')
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|style=|\bon\w+=/)
  expect(headers['content-security-policy']).not.toContain('unsafe')
  const script = (await send(origin, { path: '/docs/docs.js' })).text
  expect(`${text}${script}`).not.toContain(sandbox.tenants[0]!.client_secret)
})
