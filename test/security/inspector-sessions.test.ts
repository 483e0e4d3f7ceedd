import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { expectRefusal, type RawAnswer, send } from '../http/raw-http.ts'

const TOKEN = 'correct-horse-battery'
const SESSIONS = '/_sandbox/sessions'
const JSON_TYPE = { 'content-type': 'application/json' }

let log = ''
const stream = new Writable({
  write(chunk, _encoding, done) {
    log += chunk
    done()
  },
})
const options = {
  port: 0,
  confirmationDelay: 0,
  seed: 7,
  controlToken: TOKEN,
  logger: pino({ level: 'trace' }, stream),
}

let sandbox: Sandbox
let url: string
beforeAll(async () => {
  sandbox = await Sandbox.listen(options)
  url = sandbox.baseUrl
  await sandbox.ready
})
afterAll(() => sandbox.stop())

const code = (of = sandbox) => /^http:\/\/127\.0\.0\.1:\d+\/#code=([\w-]{32})$/.exec(of.inspectorAddress() ?? '')![1]!
const begin = (body: object | string, headers: Record<string, string> = {}, at = url) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return send(at, { method: 'POST', path: SESSIONS, headers: { ...JSON_TYPE, ...headers }, body: text })
}
const cookieIn = (answer: RawAnswer) => answer.headers['set-cookie']!.split(';')[0]!
const signedIn = async () => cookieIn(await begin({ code: code() }))
const get = (path: string, headers: Record<string, string>) => send(url, { path: `/_sandbox/${path}`, headers })
const move = (headers: Record<string, string>) =>
  send(url, { method: 'POST', path: '/_sandbox/clock', headers: { ...JSON_TYPE, ...headers }, body: '{"freeze":true}' })

const REFUSED = { status: 401, code: 'control_token_required' }

describe('a session begins', () => {
  test('with the code in the printed address, once', async () => {
    const one = code()
    const answer = await begin({ code: one })
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(answer.headers['set-cookie']).toMatch(
      /^yield_sandbox_\d+=[\w-]{32}; Path=\/_sandbox; HttpOnly; SameSite=Strict$/,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
    const again = await begin({ code: one })
    expectRefusal(again, { ...REFUSED, param: 'code' })
    expect(again.headers['set-cookie']).toBeUndefined()
  })

  test('with the control token; the cookie is neither the token nor the code, and another each time', async () => {
    const one = code()
    const cookies = [await begin({ token: TOKEN }), await begin({ token: TOKEN }), await begin({ code: one })].map(
      cookieIn,
    )
    expect(new Set(cookies).size).toBe(3)
    for (const cookie of cookies) {
      expect(cookie).not.toContain(TOKEN)
      expect(cookie).not.toContain(one)
      expect((await get('credentials', { cookie })).status).toBe(200)
    }
  })

  test.each([
    ['a wrong code', { code: 'x'.repeat(32) }, 'code'],
    ['an empty code', { code: '' }, 'code'],
    ['a wrong token', { token: `${TOKEN}x` }, 'token'],
    ['an empty token', { token: '' }, 'token'],
    ['the token as a code', { code: TOKEN }, 'code'],
    ['control characters', { code: '\u0000\r\n\u001b[31m' }, 'code'],
  ])('not with %s', async (_, body, param) => {
    const answer = await begin(body)
    expectRefusal(answer, { ...REFUSED, param })
    expect(answer.headers).toMatchObject({ 'www-authenticate': expect.stringContaining('control') })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test('not with a code as the token of the interface', async () => {
    expectRefusal(await get('clock', { authorization: `Bearer ${code()}` }), REFUSED)
  })

  test.each(['{}', '[]', 'null', '{"code":1}', '{"code":"a","token":"b"}', '{"password":"x"}', '{"code":null}', ''])(
    'not with the body %s',
    async (body) => {
      expectRefusal(await begin(body), { status: 400, code: 'validation_error' })
    },
  )

  test('not for a page of another origin, nor by a form', async () => {
    for (const origin of ['https://evil.example', 'http://localhost:3000', 'null']) {
      expectRefusal(await begin({ token: TOKEN }, { origin }), {
        status: 403,
        code: 'control_forbidden',
        param: 'Origin',
      })
    }
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
      const body = `token=${TOKEN}`
      expect(
        (await send(url, { method: 'POST', path: SESSIONS, headers: { 'content-type': type }, body })).status,
      ).toBe(415)
    }
  })

  test('with Secure in its cookie if the browser came by https, as through a proxy that ends TLS', async () => {
    const behind = await Sandbox.listen({ ...options, publicUrl: 'https://sandbox.test' })
    try {
      await behind.ready
      const listening = /Server listening at (\S+?)"/g
      const at = [...log.matchAll(listening)].at(-1)![1]!
      expect(behind.inspectorAddress()).toMatch(/^https:\/\/sandbox\.test\/#code=/)
      const answer = await begin({ token: TOKEN }, { origin: 'https://sandbox.test', host: 'sandbox.test' }, at)
      expect(answer.headers['set-cookie']).toMatch(/^yield_sandbox_443=.*; Secure$/)
    } finally {
      await behind.stop()
    }
  })
})

describe('a session', () => {
  test('may do whatever the token may, for a page of the sandbox itself', async () => {
    const cookie = await signedIn()
    for (const own of [
      { origin: url },
      { origin: url, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-origin' },
    ]) {
      expect((await move({ cookie, ...own })).status).toBe(200)
    }
    for (const own of [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, { origin: url }]) {
      expect((await get('clock', { cookie, ...own })).status).toBe(200)
    }
  })

  // A cookie belongs to a host, and a page on another port of it is of the same site: SameSite does not hold its cookie back.
  test('is of no use for a page on another port or another site', async () => {
    const cookie = await signedIn()
    const refusal = { status: 403, code: 'control_forbidden', param: 'Sec-Fetch-Site' }
    for (const site of ['same-site', 'cross-site', 'SAME-ORIGIN', '']) {
      expectRefusal(await get('credentials', { cookie, 'sec-fetch-site': site }), refusal)
      expectRefusal(await move({ cookie, 'sec-fetch-site': site }), refusal)
      expectRefusal(await move({ cookie, 'sec-fetch-site': site, origin: url }), refusal)
    }
    for (const origin of ['http://localhost:3000', 'https://evil.example', 'null']) {
      for (const site of ['same-origin', 'same-site']) {
        const answer = await move({ cookie, origin, 'sec-fetch-site': site })
        expectRefusal(answer, { status: 403, code: 'control_forbidden', param: 'Origin' })
      }
    }
  })

  test('changes nothing for who says nothing of where the request comes from', async () => {
    const cookie = await signedIn()
    expectRefusal(await move({ cookie }), { status: 403, code: 'control_forbidden', param: 'Origin' })
    expectRefusal(await move({ cookie, 'sec-fetch-site': 'none' }), { status: 403, code: 'control_forbidden' })
    for (const [method, path] of [
      ['POST', 'reset'],
      ['DELETE', 'faults'],
      ['POST', 'stop'],
      ['DELETE', 'requests'],
    ]) {
      const answer = await send(url, { method: method!, path: `/_sandbox/${path}`, headers: { cookie } })
      expectRefusal(answer, { status: 403, code: 'control_forbidden' })
    }
  })

  test('does not help a wrong token', async () => {
    const cookie = await signedIn()
    expectRefusal(await get('clock', { cookie, authorization: 'Bearer wrong' }), REFUSED)
    expect((await get('clock', { cookie: 'yield_sandbox_1=x', authorization: `Bearer ${TOKEN}` })).status).toBe(200)
  })

  test('is good for the control interface alone: the service takes it for nothing', async () => {
    const headers = { cookie: await signedIn() }
    expectRefusal(await send(url, { path: '/v1/partner/pools', headers }), { status: 401, code: 'token_missing' })
    const fault = { ...headers, 'x-sandbox-fault': 'hang', origin: url }
    expectRefusal(await send(url, { path: '/v1/partner/pools', headers: fault }), REFUSED)
  })

  test('ends when the browser says so, and no other with it', async () => {
    const [mine, yours] = [await signedIn(), await signedIn()]
    const headers = { cookie: mine, origin: url, ...JSON_TYPE }
    const answer = await send(url, { method: 'DELETE', path: SESSIONS, headers })
    expect(answer.status).toBe(204)
    expect(answer.headers['set-cookie']).toMatch(/^yield_sandbox_\d+=; Path=\/_sandbox; .*; Max-Age=0$/)
    expectRefusal(await get('clock', { cookie: mine }), REFUSED)
    expect((await get('clock', { cookie: yours })).status).toBe(200)
    const foreign = { cookie: yours, origin: 'http://localhost:3000' }
    expectRefusal(await send(url, { method: 'DELETE', path: SESSIONS, headers: foreign }), {
      status: 403,
      code: 'control_forbidden',
    })
    expect((await get('clock', { cookie: yours })).status).toBe(200)
  })

  test('is of its sandbox: another one on another port, or later on the same, does not know it', async () => {
    const cookie = await signedIn()
    const first = await Sandbox.listen(options)
    const { port } = new URL(first.baseUrl)
    await first.ready
    const other = (cookies: string, at = first) =>
      send(at.baseUrl, { path: '/_sandbox/clock', headers: { cookie: cookies } })
    const [name, value] = cookie.split('=')
    expect(name).not.toBe(`yield_sandbox_${port}`)
    expectRefusal(await other(cookie), REFUSED)
    expectRefusal(await other(`yield_sandbox_${port}=${value}`), REFUSED)
    const own = cookieIn(await begin({ code: code(first) }, {}, first.baseUrl))
    expect((await other(`${cookie}; ${own}`)).status).toBe(200)
    await first.stop()
    const later = await Sandbox.listen({ ...options, port: Number(port) })
    try {
      await later.ready
      expectRefusal(await other(own, later), REFUSED)
    } finally {
      await later.stop()
    }
  })
})

test('without a control token nobody needs a session, and none begins', async () => {
  const { controlToken: _, ...open } = options
  const local = await Sandbox.listen(open)
  try {
    await local.ready
    expect(local.inspectorAddress()).toBe(`${local.baseUrl}/`)
    const answer = await begin({ token: 'x' }, {}, local.baseUrl)
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(answer.headers['set-cookie']).toBeUndefined()
    const rebound = await begin({ token: 'x' }, { host: 'evil.example' }, local.baseUrl)
    expectRefusal(rebound, { status: 403, code: 'control_forbidden', param: 'Host' })
  } finally {
    await local.stop()
  }
})

test('no answer of the interface stays in a cache, is guessed at or is embedded by another origin', async () => {
  for (const headers of [{ cookie: await signedIn() }, {}, { authorization: `Bearer ${TOKEN}` }]) {
    expect((await get('credentials', headers)).headers).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
  }
})

test('neither token nor code nor session reaches the log, which has all these requests', async () => {
  const one = code()
  const cookie = cookieIn(await begin({ code: one }))
  await begin({ code: one })
  await get(`clock?code=${one}`, { cookie })
  await send(url, { path: `/?code=${one}`, headers: { accept: 'text/html', cookie } })
  await expect.poll(() => log.split('"path":"/_sandbox/sessions"').length).toBeGreaterThan(20)
  for (const secret of [TOKEN, one, cookie.split('=')[1]!]) expect(log).not.toContain(secret)
})
