import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { expectIdentified, expectNoFailure, expectRefusal, goodHeaders, type RawAnswer, send } from './raw-http.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

/** A request for the path as it stands, with the user token of `user`. */
async function ask(method: string, path: string, user = 'alice', body?: string): Promise<RawAnswer> {
  const { 'content-type': type, ...headers } = await goodHeaders(acme, user)
  const typed = body === undefined ? headers : { ...headers, 'content-type': type! }
  return send(sandbox.baseUrl, { method, path, headers: typed, ...(body !== undefined && { body }) })
}

const LISTS = ['portfolios', 'transactions'] as const
const OPERATIONS = ['portfolios', 'deposit', 'withdraw'] as const
const INVALID = { status: 400, code: 'validation_error' }

describe('external_id in the path', () => {
  test('may be percent-encoded', async () => {
    for (const path of ['%61lice', 'al%69ce', '%61%6C%69%63%65', '%61%6c%69%63%65']) {
      expect(await ask('GET', `/v1/partner/end_users/${path}/portfolios`)).toMatchObject({ status: 200 })
    }
  })

  test.each([
    ['an encoded slash', 'a%2Fb', 'a/b'],
    ['an encoded slash and dots', '..%2F..%2Falice', '../../alice'],
    ['an encoded NUL', 'alice%00', 'alice\0'],
    ['an encoded space', 'alice%20', 'alice '],
    ['an encoded line feed', 'alice%0A', 'alice\n'],
    ['encoded UTF-8', '%C3%A4', 'ä'],
    ['an encoding of an encoding', '%2561lice', '%61lice'],
    ['a plus', 'a+b', 'a+b'],
    ['a semicolon', 'alice;x=1', 'alice;x=1'],
    ['a colon', ':external_id', ':external_id'],
    ['a star', '*', '*'],
    ['a space in double encoding', 'alice%2520', 'alice%20'],
    ['129 characters', 'x'.repeat(129), 'x'.repeat(129)],
    ['5,000 characters', 'x'.repeat(5_000), 'x'.repeat(5_000)],
    ['a dot, which URL clients leave out', '.', '.'],
    ['two dots', '..', '..'],
    ['two encoded dots', '%2e%2e', '..'],
    ['an encoded dot', '%2E', '.'],
    ['an e-mail address', 'user%40example.com', 'user@example.com'],
    ['three dots', '...', '...'],
    ['a name that nobody has', 'nobody', 'nobody'],
    ['the name of a prototype', '__proto__', '__proto__'],
    ['the name of a constructor', 'constructor', 'constructor'],
  ])('is nobody (endpoint 3, rule 4) when it is %s', async (_what, path, external_id) => {
    const nobody = { status: 404, code: 'end_user_not_found', param: 'external_id' }
    for (const list of LISTS) {
      expectRefusal(await ask('GET', `/v1/partner/end_users/${path}/${list}`, external_id), nobody)
    }
    for (const operation of ['deposit', 'withdraw']) {
      const body = JSON.stringify({ portfolio_id: 'jar_x', amount_minor: '1' })
      expectRefusal(await ask('POST', `/v1/partner/end_users/${path}/${operation}`, external_id, body), nobody)
    }
    // With somebody else's token it is that which comes first (assumption error-precedence).
    expectRefusal(await ask('GET', `/v1/partner/end_users/${path}/portfolios`), {
      status: 403,
      code: 'sub_url_mismatch',
    })
  })

  test('cannot be empty: no token is for nobody', async () => {
    expectRefusal(await ask('GET', '/v1/partner/end_users//portfolios'), { status: 403, code: 'sub_url_mismatch' })
  })

  test('is refused in 8 kB, without a word from the router', async () => {
    for (const length of [4_000, 8_000]) {
      const path = `/v1/partner/end_users/${'x'.repeat(length)}/portfolios`
      expectRefusal(await ask('GET', path), { status: 403, code: 'sub_url_mismatch' })
    }
  })

  test('with invalid percent-encoding makes no path', async () => {
    for (const id of ['%', '%zz', '%E0%A4%A', 'alice%', '%u0041', '%FF', '%C3', '%c0%af']) {
      for (const list of LISTS) {
        expectRefusal(await ask('GET', `/v1/partner/end_users/${id}/${list}`), { ...INVALID, param: 'path' })
      }
      for (const operation of OPERATIONS) {
        const answer = await ask('POST', `/v1/partner/end_users/${id}/${operation}`, 'alice', '{}')
        expectRefusal(answer, { ...INVALID, param: 'path' })
      }
    }
  })
})

describe('query parameters', () => {
  const paths = ['/v1/partner/pools', ...LISTS.map((list) => `/v1/partner/end_users/alice/${list}`)]

  test.each(paths)('of GET %s that are wrong are named', async (path) => {
    const limits = [
      '0',
      '101',
      '-1',
      '1.5',
      '1e1',
      '0x10',
      '',
      '%20',
      'ten',
      '10%00',
      '9999999999999999999',
      '١',
      'null',
    ]
    for (const limit of limits) {
      const encoded = /[^ -~]/.test(limit) ? encodeURIComponent(limit) : limit
      expectRefusal(await ask('GET', `${path}?limit=${encoded}`), { ...INVALID, param: 'limit' })
    }
    for (const twice of ['limit=1&limit=1', 'limit=1&limit=x', 'limit&limit=5', '%6cimit=1&limit=2']) {
      expectRefusal(await ask('GET', `${path}?${twice}`), { ...INVALID, param: 'limit' })
    }
    for (const cursor of ['starting_after', 'ending_before']) {
      expectRefusal(await ask('GET', `${path}?${cursor}=x&${cursor}=y`), { ...INVALID, param: cursor })
      for (const value of ['', 'x', '%00', '..', 'a.b.c', encodeURIComponent('ä'), '%FF', '='.repeat(8_000)]) {
        const answer = await ask('GET', `${path}?${cursor}=${value}`)
        expectRefusal(answer, { status: 400, code: 'cursor_invalid', param: cursor })
      }
    }
    const both = await ask('GET', `${path}?starting_after=x&ending_before=y`)
    expectRefusal(both, { status: 400, code: 'conflicting_cursors' })
  })

  test.each(paths)('of GET %s that nobody knows change nothing', async (path) => {
    const plain = JSON.parse((await ask('GET', path)).text).data.length
    const queries = [
      '',
      'x',
      '&&&',
      '=',
      '=1',
      'page=2&page=3',
      'limit[]=1',
      '__proto__=1&__proto__[limit]=1',
      'constructor=x',
    ]
    for (const query of [...queries, 'toString=1', '%', '%zz=%', 'LIMIT=0', 'a'.repeat(8_000), 'x=1&'.repeat(900)]) {
      const answer = await ask('GET', `${path}?${query}`)
      expect({ query, status: answer.status }).toEqual({ query, status: 200 })
      expect(JSON.parse(answer.text).data).toHaveLength(plain)
    }
  })

  test('of POST change nothing', async () => {
    const answer = await ask('POST', '/v1/partner/end_users?limit=x&limit=y', 'alice', '{"external_id":"alice"}')
    expect(answer.status).toBe(201)
  })
})

describe('paths nobody serves', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/partner',
    '/v1/partner/',
    '/v1/partner/pools/',
    '/v1/partner/Pools',
    '/v1//partner/pools',
    '//v1/partner/pools',
    '/v1/partner/pools/aave-usdc',
    '/v1/partner/pools%2F',
    '/v1/partner/pools%00',
    '/v1/partner/./pools',
    '/v1/partner/x/../pools',
    '/v1/partner/end_users/',
    '/v1/partner/end_users/alice',
    '/v1/partner/end_users/alice/portfolios/jar_x',
    '/v1/partner/end_users/a/b/portfolios',
    '/v1/partner/end_users/alice/Deposit',
    '/v2/partner/pools',
    '/',
    '/index.html',
    '/favicon.ico',
    '/.env',
    '/*',
    '/__proto__',
    '/constructor',
    '/docs/../v1/partner/pools',
    '/docs/../_sandbox/health',
    '/docs/../openapi.json',
    '/docs/index.html',
    '/docs/../../package.json',
    '/docs/..%2f..%2fpackage.json',
    '/_sandbox',
    '/_sandbox/nothing',
  ])('%s: 404 not_found', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await ask(method, path, 'alice', method === 'GET' ? undefined : '{"x":')
      expectRefusal(answer, { status: 404, code: 'not_found', param: 'path' })
    }
  })

  test('are so without credentials too, in every encoding', async () => {
    for (const path of [
      '/%',
      '/v1/%zz',
      '/v1/partner/end_users/%',
      '/_sandbox/%',
      '/docs/%zz',
      `/${'x'.repeat(8_000)}`,
    ]) {
      const answer = await send(sandbox.baseUrl, { path })
      expectNoFailure(answer)
      expect(answer.status).toBeGreaterThanOrEqual(400)
    }
  })
})

describe('methods a path does not have', () => {
  test.each([
    ['/v1/partner/pools', 'GET, HEAD'],
    ['/v1/partner/end_users', 'POST'],
    ['/v1/partner/end_users/alice/portfolios', 'POST, GET, HEAD'],
    ['/v1/partner/end_users/alice/deposit', 'POST'],
    ['/v1/partner/end_users/alice/withdraw', 'POST'],
    ['/v1/partner/end_users/alice/transactions', 'GET, HEAD'],
    ['/v1/partner/end_users/%61lice/transactions?limit=0', 'GET, HEAD'],
  ])('%s: 405 and what is allowed', async (path, allow) => {
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter(
      (method) => !allow.includes(method),
    )
    for (const method of others) {
      for (const body of [undefined, '{"x":']) {
        const answer = await ask(method, path, 'alice', body)
        expectRefusal(answer, { status: 405, code: 'method_not_allowed', param: 'method' })
        expect(answer.headers.allow).toBe(allow)
      }
    }
    if (allow.includes('HEAD')) return
    const head = await ask('HEAD', path)
    expect(head).toMatchObject({ status: 405, text: '' })
    expect(head.headers.allow).toBe(allow)
    expectIdentified(head)
  })

  test('are refused by whatever name Node knows them', async () => {
    for (const method of ['PROPFIND', 'SEARCH', 'LOCK', 'PURGE', 'M-SEARCH', 'LINK', 'SOURCE']) {
      const answer = await ask(method, '/v1/partner/pools')
      expectNoFailure(answer)
      expect(answer.status).toBeOneOf([404, 405])
    }
  })
})
