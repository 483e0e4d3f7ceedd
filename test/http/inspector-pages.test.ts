import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Problem } from '../../src/domain/errors.ts'
import { Origin } from '../../src/domain/origin.ts'
import { registerInspector } from '../../src/http/inspector-pages.ts'
import { send } from './raw-http.ts'

const HTML = '<!doctype html><title>Inspector</title><script type="module" src="/inspector/app.js"></script>\n'
const SCRIPT = `console.log(${JSON.stringify('ü'.repeat(500))})\n`

let directory: string
let folder: string
let app: FastifyInstance
let url: string
const opened: FastifyInstance[] = []

/** An application that has nothing but the page. */
async function serve(controlToken?: string): Promise<string> {
  app = Fastify()
  opened.push(app)
  const refuse = () => {
    throw new Problem('not_found', { detail: 'Nothing is served at this path.', param: 'path' })
  }
  app.setErrorHandler<Problem>((error, _request, reply) => reply.code(error.status).send({ code: error.code }))
  const origin = Origin.listening({ scheme: 'http', host: undefined, port: 4010 })
  registerInspector(app, { folder: pathToFileURL(`${folder}/`), sandboxOf: () => ({ origin, controlToken }) }, refuse)
  return app.listen({ port: 0, host: '127.0.0.1' })
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-test-'))
  folder = join(directory, 'inspector')
  url = await serve()
})
afterAll(() => Promise.all([...opened.map((one) => one.close()), rm(directory, { recursive: true })]))

const page = (headers: Record<string, string> = {}) =>
  send(url, { path: '/', headers: { accept: 'text/html', ...headers } })
const file = (name: string, headers: Record<string, string> = {}) => send(url, { path: `/inspector/${name}`, headers })

test('until it is built, a page says how to build it; it needs no restart then', async () => {
  const { status, headers, text } = await page()
  expect([status, headers['cache-control']]).toEqual([404, 'no-store'])
  expect(text).toContain('<code>npm run build</code>')
  expect(text).toContain('<a href="/openapi.json">')
  expect(text).not.toMatch(/<script|<style|style=/)
  expect((await file('app.js')).status).toBe(404)
  await mkdir(folder)
  await Promise.all([
    writeFile(join(folder, 'index.html'), HTML),
    writeFile(join(folder, 'app.js'), SCRIPT),
    writeFile(join(folder, 'style.css'), 'p { color: red }\n'),
    writeFile(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>\n'),
    writeFile(join(folder, 'app.js.map'), '{}'),
  ])
  expect(await page()).toMatchObject({ status: 200, text: HTML })
})

describe('once it is built', () => {
  test.each([
    ['app.js', 'text/javascript; charset=utf-8', SCRIPT],
    ['style.css', 'text/css; charset=utf-8', 'p { color: red }\n'],
    ['icon.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>\n'],
  ])('%s is served as %s', async (name, type, text) => {
    const answer = await file(name)
    expect(answer).toMatchObject({ status: 200, text })
    expect(answer.headers).toMatchObject({ 'content-type': type, vary: 'Accept-Encoding' })
  })

  test.each([
    '',
    'nothing',
    'app.js.map',
    'index.html',
    '..%2fpackage.json',
    '%2e%2e%2f',
    'constructor',
    '__proto__',
    'app.js%00',
  ])('nothing is served as %j', async (name) => {
    expect((await file(name)).status).toBe(404)
  })

  test('every answer has the strict headers, those of the page to begin with', async () => {
    const strict = {
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-cache',
    }
    for (const answer of [await page(), await file('app.js'), await file('style.css')]) {
      expect(answer.headers).toMatchObject(strict)
    }
  })

  test.each(['gzip', 'gzip, deflate, br', 'br;q=1, GZIP;q=0.5'])(
    'it is compressed for who accepts %j',
    async (accepted) => {
      const response = await app.inject({ url: '/inspector/app.js', headers: { 'accept-encoding': accepted } })
      expect(response.headers['content-encoding']).toBe('gzip')
      expect(gunzipSync(response.rawPayload).toString()).toBe(SCRIPT)
      expect(Number(response.headers['content-length'])).toBe(response.rawPayload.length)
      expect(response.rawPayload.length).toBeLessThan(SCRIPT.length / 4)
    },
  )

  test.each(['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.0', 'x-gzip'])(
    'and plain for who accepts %j',
    async (accepted) => {
      const answer = await file('app.js', { 'accept-encoding': accepted })
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(answer.text).toBe(SCRIPT)
    },
  )

  test('a browser that has it is told so, by the tag of the form that it has', async () => {
    const plain = (await file('app.js')).headers.etag ?? ''
    const packed = (await file('app.js', { 'accept-encoding': 'gzip' })).headers.etag ?? ''
    expect(plain).not.toBe(packed)
    for (const known of [plain, `"other", ${plain}`, `W/${plain}`, '*']) {
      expect(await file('app.js', { 'if-none-match': known })).toMatchObject({ status: 304, text: '' })
    }
    for (const known of [packed, '"other"', '']) {
      expect((await file('app.js', { 'if-none-match': known })).status).toBe(200)
    }
  })

  test('HEAD has the headers of GET, and no body', async () => {
    for (const path of ['/', '/inspector/app.js']) {
      const headers = { accept: 'text/html', 'accept-encoding': 'gzip' }
      const { date: _, ...whole } = (await send(url, { path, headers })).headers
      expect(await send(url, { method: 'HEAD', path, headers })).toMatchObject({
        status: 200,
        text: '',
        headers: whole,
      })
    }
  })

  test('it stays in memory: its files may go', async () => {
    await rm(join(folder, 'style.css'))
    expect((await file('style.css')).status).toBe(200)
  })
})

describe('pages of others', () => {
  test.each(['http://evil.example', 'http://localhost:3000', 'null'])(
    'with the origin %s get nothing',
    async (origin) => {
      expect(await page({ origin })).toMatchObject({ status: 403, text: '{"code":"control_forbidden"}' })
      expect((await file('app.js', { origin })).status).toBe(403)
    },
  )

  test('get nothing under a name of their own that leads here', async () => {
    for (const host of ['evil.example:4010', 'localhost.evil.example', '192.0.2.1:4010']) {
      expect((await page({ host })).status).toBe(403)
      expect((await file('app.js', { host, origin: `http://${host}` })).status).toBe(403)
    }
    for (const host of ['localhost:4010', '127.0.0.1', '[::1]:4010']) expect((await page({ host })).status).toBe(200)
  })

  test('the page itself is no secret: with a control token, it is served under any name of the machine', async () => {
    url = await serve('correct-horse')
    expect((await page({ host: 'sandbox.internal:4010' })).status).toBe(200)
    expect((await page({ host: 'sandbox.internal:4010', origin: 'http://evil.example' })).status).toBe(403)
  })
})
