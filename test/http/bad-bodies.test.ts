import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { expectRefusal, goodHeaders, type RawAnswer, send, sendBytes } from './raw-http.ts'

const LIMIT = 100 * 1024

let sandbox: SandboxHandle
let acme: Partner
let bodies: Record<string, Record<string, string>>
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  const transfer = { portfolio_id: await acme.open('alice'), amount_minor: '1000' }
  bodies = {
    '/v1/partner/end_users': { external_id: 'carol', user_jwt: await acme.userToken('carol') },
    '/v1/partner/end_users/alice/portfolios': { ...(await acme.portfolioBody('aave-usdc')), description: 'Old' },
    '/v1/partner/end_users/alice/deposit': transfer,
    '/v1/partner/end_users/alice/withdraw': transfer,
  }
})
afterAll(() => sandbox.stop())

async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return send(sandbox.baseUrl, {
    method: 'POST',
    path,
    body,
    headers: { ...(await goodHeaders(acme)), 'content-length': String(Buffer.byteLength(body)), ...headers },
  })
}

const REQUIRED: Record<string, string[]> = {
  '/v1/partner/end_users': ['external_id'],
  '/v1/partner/end_users/alice/portfolios': ['name', 'chain_id', 'token_address', 'market_address'],
  '/v1/partner/end_users/alice/deposit': ['portfolio_id', 'amount_minor'],
  '/v1/partner/end_users/alice/withdraw': ['portfolio_id', 'amount_minor'],
}

describe.each(Object.keys(REQUIRED))('POST %s', (path) => {
  const good = () => bodies[path]!

  test.each([
    ['an opened object', '{'],
    ['an opened list', '[1,'],
    ['single quotes', "{'name':'x'}"],
    ['a trailing comma', '{"name":"x",}'],
    ['two documents', '{}{}'],
    ['not a number', '{"name":NaN}'],
    ['rubbish', 'hello'],
    ['a NUL character', '\0'],
    ['nothing', ''],
    ['an own __proto__', '{"__proto__":{"external_id":"carol"}}'],
    ['a constructor with a prototype', '{"constructor":{"prototype":{"external_id":"carol"}}}'],
    ['a string', '"name"'],
    ['null', 'null'],
    ['a number', '42'],
    ['a list', '[]'],
    ['50,000 opened lists', '['.repeat(50_000)],
    ['30,000 nested lists', '['.repeat(30_000) + ']'.repeat(30_000)],
  ])('refuses %s for a body', async (_what, body) => {
    expectRefusal(await post(path, body), { status: 400, code: 'validation_error', param: 'body' })
  })

  test('refuses bytes that are not UTF-8', async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])
      expectRefusal(await post(path, body), { status: 400, code: 'validation_error', param: 'body' })
    }
    const utf16 = Buffer.from(JSON.stringify(good()), 'utf16le')
    expectRefusal(await post(path, utf16), { status: 400, code: 'validation_error', param: 'body' })
  })

  test('refuses content types other than application/json, whatever the body', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json', '*/*']
    for (const type of [...types, 'application/jsonp', 'application/problem+json', 'application/octet-stream', '']) {
      expectRefusal(await post(path, JSON.stringify(good()), { 'content-type': type }), {
        status: 415,
        code: 'unsupported_media_type',
        param: 'Content-Type',
      })
    }
  })

  test('refuses a body of over 100 KiB, announced or not', async () => {
    const refusal = { status: 413, code: 'payload_too_large', param: 'body' }
    const headers = await goodHeaders(acme)
    const body = JSON.stringify({ ...good(), padding: 'x'.repeat(LIMIT) })
    expectRefusal(await send(sandbox.baseUrl, { method: 'POST', path, headers, body }), refusal)
    const chunked = { ...headers, 'transfer-encoding': 'chunked' }
    expectRefusal(await send(sandbox.baseUrl, { method: 'POST', path, headers: chunked, body }), refusal)
    const announced = { ...headers, 'content-length': '999999999999', connection: 'close' }
    const head = Object.entries({ host: 'localhost', ...announced }).map(([name, value]) => `${name}: ${value}`)
    expectRefusal(await sendBytes(sandbox.baseUrl, `POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{`), refusal)
  })

  test('names a field that is missing', async () => {
    for (const field of REQUIRED[path]!) {
      const { [field]: _left, ...rest } = good()
      expectRefusal(await post(path, JSON.stringify(rest)), { status: 400, code: 'validation_error', param: field })
    }
    expectRefusal(await post(path, '{}'), { status: 400, code: 'validation_error', param: REQUIRED[path]![0]! })
  })

  test('names a field of a wrong type', async () => {
    for (const field of Object.keys(good())) {
      // Fields that may be left out may be null as well.
      const none = REQUIRED[path]!.includes(field) ? [null] : []
      for (const value of [1, 1.5, true, false, ...none, [], {}, ['x'], { toString: 'x' }]) {
        const body = JSON.stringify({ ...good(), [field]: value })
        expectRefusal(await post(path, body), { status: 400, code: 'validation_error', param: field })
      }
    }
  })

  test('names every field at fault when there are several', async () => {
    const answer = await post(path, JSON.stringify(Object.fromEntries(Object.keys(good()).map((field) => [field, 7]))))
    expectRefusal(answer, { status: 400, code: 'validation_error' })
    const named = JSON.parse(answer.text).errors.map(({ param }: { param: string }) => param)
    expect(named.sort()).toEqual(Object.keys(good()).sort())
  })

  test('accepts fields it does not know, a charset, and a body of exactly 100 KiB', async () => {
    const extra = { ...good(), unknown: { deep: [1, 'x', null] }, toString: 1, hasOwnProperty: false }
    const padding = LIMIT - JSON.stringify({ ...extra, padding: '' }).length
    const body = JSON.stringify({ ...extra, padding: ' '.repeat(padding) })
    expect(Buffer.byteLength(body)).toBe(LIMIT)
    const answer = await post(path, body, { 'content-type': 'Application/JSON; charset=UTF-8' })
    expect(answer.status).toBeLessThan(300)
  })
})

describe('values that cannot be', () => {
  const portfolios = '/v1/partner/end_users/alice/portfolios'
  const refused = async (path: string, field: string, value: string) => {
    const answer = await post(path, JSON.stringify({ ...bodies[path], [field]: value }))
    expectRefusal(answer, { status: 400, code: 'validation_error', param: field })
  }

  test('names, descriptions, chain ids and protocols', async () => {
    await refused(portfolios, 'name', '')
    await refused(portfolios, 'name', 'x'.repeat(51))
    await refused(portfolios, 'name', '🏖'.repeat(51))
    for (const name of ['\u0000', 'a\nb', '\t', '\u007f', '\u0085']) await refused(portfolios, 'name', name)
    await refused(portfolios, 'description', 'x'.repeat(501))
    for (const value of ['', 'x', '0x7a69', '-1', '1.5', ' 31337', '31337 ', '٣١٣٣٧', '9'.repeat(79)]) {
      await refused(portfolios, 'chain_id', value)
    }
    for (const value of ['', 'AAVE', 'compound', ' aave', '__proto__']) await refused(portfolios, 'protocol', value)
  })

  test('what they should be is said of every field', async () => {
    const body = { name: 5, description: 'x'.repeat(501), chain_id: 31337, protocol: 'avae', token_address: '0x12' }
    const answer = await post(portfolios, JSON.stringify(body))
    const { errors } = JSON.parse(answer.text)
    expect(Object.fromEntries(errors.map(({ param, detail }: Record<string, string>) => [param, detail]))).toEqual({
      name: 'must be a text without control characters; got the number 5; put it in quotes: "5"',
      description: `must be a string of at most 500 characters; got "${'x'.repeat(59)}…"`,
      chain_id: 'must be a string of digits; got the number 31337; put it in quotes: "31337"',
      protocol: '"avae" is not known; did you mean "aave"?',
      token_address: expect.stringMatching(/^must be an Ethereum address: 0x and .*; got "0x12"; write it like "0x/),
      market_address: expect.stringMatching(/^is missing; add it, such as market_address: "0x/),
    })
  })

  test('names of 50 characters are characters, not bytes or surrogates', async () => {
    for (const name of ['🏖'.repeat(50), 'ä'.repeat(50), '\u00a0', '\ud800', ' ', '🏖\ufe0f\u200d']) {
      const answer = await post(portfolios, JSON.stringify({ ...bodies[portfolios], name }))
      expect(answer.status).toBe(201)
      expect(JSON.parse(answer.text).name).toBe(name)
    }
  })

  test('amounts', async () => {
    const amounts = ['', '0', '00', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '1 ', '1\n', '1_000', '１', 'NaN', '1n']
    for (const operation of ['deposit', 'withdraw']) {
      const path = `/v1/partner/end_users/alice/${operation}`
      for (const amount of amounts) await refused(path, 'amount_minor', amount)
      for (const amount of [2n ** 256n, 10n ** 99n, 10n ** 100n]) await refused(path, 'amount_minor', amount.toString())
      await refused(path, 'portfolio_id', '')
      const most = await post(path, JSON.stringify({ ...bodies[path], amount_minor: (2n ** 256n - 1n).toString() }))
      expectRefusal(most, { status: 422, code: 'insufficient_balance', param: 'amount_minor' })
      for (const portfolio_id of ['jar_', 'alice', '../x', '__proto__', 'constructor', 'x'.repeat(90_000), '\0']) {
        const answer = await post(path, JSON.stringify({ portfolio_id, amount_minor: '1' }))
        expectRefusal(answer, { status: 404, code: 'portfolio_not_found', param: 'portfolio_id' })
      }
    }
  })

  test('an external_id outside its alphabet', async () => {
    const ids = [
      '',
      ' ',
      'a b',
      'a/b',
      'ä',
      'a\n',
      '\0',
      'x'.repeat(129),
      'a%20b',
      '<script>',
      'a:b',
      '🏖',
      'alice\u200b',
      '.',
      '..',
    ]
    for (const id of ids) await refused('/v1/partner/end_users', 'external_id', id)
    for (const id of [
      'x'.repeat(128),
      '0',
      '-',
      '_',
      '__proto__',
      'constructor',
      'toString',
      '...',
      '.a',
      '..a',
      'a..',
      '....',
    ]) {
      const answer = await acme.post('end_users', { external_id: id })
      expect(answer).toMatchObject({ status: 201, body: { external_id: id } })
      expect((await acme.get(`end_users/${id}/transactions`)).body.data).toEqual([])
    }
  })
})

describe('Ethereum addresses', () => {
  const portfolios = '/v1/partner/end_users/alice/portfolios'
  const create = (change: Record<string, string>) =>
    post(portfolios, JSON.stringify({ ...bodies[portfolios], ...change }))
  const shout = (address: string) => `0x${address.slice(2).toUpperCase()}`
  /** The first letter in the wrong case: mixed, so the checksum counts, and it is wrong. */
  const spoil = (address: string) =>
    `0x${address.slice(2).replace(/[a-f]/i, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))}`

  test('are the same in lower case, upper case and with their checksum', async () => {
    const { token_address, market_address } = bodies[portfolios]!
    for (const form of [(address: string) => address, (address: string) => address.toLowerCase(), shout]) {
      const change = { token_address: form(token_address!), market_address: form(market_address!) }
      const answer = await create(change)
      expect(answer.status).toBe(201)
      expect(JSON.parse(answer.text)).toMatchObject({ token_address, market_address })
    }
  })

  test('are refused with a wrong checksum or in any other form', async () => {
    for (const field of ['token_address', 'market_address']) {
      const address = bodies[portfolios]![field]!
      const wrong = [spoil(address), '0x', '', address.slice(2), address.slice(0, -1), `${address}0`, ` ${address}`]
      for (const value of [...wrong, `${address}\n`, `0X${address.slice(2)}`, `0x${'g'.repeat(40)}`, 'alice.eth']) {
        expectRefusal(await create({ [field]: value }), { status: 400, code: 'validation_error', param: field })
      }
    }
  })

  test('that are swapped, or of no pool, match none', async () => {
    const { token_address, market_address } = bodies[portfolios]!
    const zero = `0x${'0'.repeat(40)}`
    for (const change of [
      { market_address: token_address! },
      { token_address: market_address! },
      { market_address: zero },
      { token_address: zero },
      { chain_id: '1' },
      { chain_id: '9'.repeat(78) },
      { protocol: 'morpho' },
    ]) {
      expectRefusal(await create(change), { status: 422, code: 'pool_not_found' })
    }
  })
})
