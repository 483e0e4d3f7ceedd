import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { expectRefusal, send } from './raw-http.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const OTHERS = ['*/*', 'application/json', '', 'text/html;q=0', 'text/html; q=0.000, */*', 'text/htmlx', 'text/plain']

let sandbox: SandboxHandle

describe('the origin', () => {
  beforeAll(async () => {
    sandbox = await testSandbox({ clock: '2030-01-01T00:00:00Z' })
  })
  afterAll(() => sandbox.stop())

  test('gives a browser the inspector', async () => {
    const answer = await send(sandbox.baseUrl, { path: '/', headers: { accept: BROWSER } })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      vary: 'Accept, Accept-Encoding',
    })
    expect(answer.text).toContain('/inspector/app.js')
  })

  test.each(OTHERS)('serves nothing to who accepts %j', async (accept) => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const answer = await send(sandbox.baseUrl, { method, path: '/', headers: { accept } })
      if (method === 'HEAD') expect(answer).toMatchObject({ status: 404, text: '' })
      else expectRefusal(answer, { status: 404, code: 'not_found', param: 'path' })
    }
  })

  test('serves nothing to who says nothing of what he accepts', async () => {
    expectRefusal(await send(sandbox.baseUrl, { path: '/' }), { status: 404, code: 'not_found' })
  })

  test('leaves no trace: no exchange, no hit of a fault, and no id of the namespace is used up', async () => {
    const acme = new Partner(sandbox)
    const id = async () => (await acme.get('pools')).headers.get('x-service-request-id')
    await acme.idpToken()
    await sandbox.reset()
    const first = await id()
    await sandbox.reset()
    await sandbox.faults.add({ kind: 'error', times: 'always' })
    for (const path of ['/', '/inspector/app.js', '/inspector/nothing', '/favicon.ico', '/?from=a&bookmark']) {
      await send(sandbox.baseUrl, { path, headers: { accept: BROWSER } })
    }
    expect(await sandbox.faults.list()).toMatchObject([{ hits: 0 }])
    expect((await sandbox.requests.list()).data).toEqual([])
    await sandbox.faults.clear()
    expect(await id()).toBe(first)
  })
})

describe('the origin, without the inspector', () => {
  beforeAll(async () => {
    sandbox = await testSandbox({ inspector: false })
  })
  afterAll(() => sandbox.stop())

  const root = (accept: string) => fetch(sandbox.baseUrl, { redirect: 'manual', headers: { accept } })

  test('leads a browser to the description', async () => {
    const response = await root(BROWSER)
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('/docs')
    expect(response.headers.get('vary')).toBe('Accept')
    const page = await fetch(sandbox.baseUrl, { headers: { accept: BROWSER } })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  })

  test.each(OTHERS)('serves nothing to who accepts %j', async (accept) => {
    const response = await root(accept)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'not_found' })
  })

  test('has no files of the page', async () => {
    for (const path of ['/inspector/app.js', '/inspector/index.html', '/inspector']) {
      expectRefusal(await send(sandbox.baseUrl, { path }), { status: 404, code: 'not_found' })
    }
  })
})
