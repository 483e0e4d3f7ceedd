import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { isOpen } from '../helpers/confirmation.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { goodHeaders, type RawAnswer, send } from '../http/raw-http.ts'
import { struck } from './struck.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
  await acme.idpToken()
})
afterAll(() => sandbox.stop())
afterEach(() => sandbox.faults.clear())

const fault = async (rule: FaultRule) => (await sandbox.faults.add(rule))[0]!
const pools = async (headers: Record<string, string> = {}): Promise<RawAnswer> =>
  send(sandbox.baseUrl, { path: '/v1/partner/pools', headers: { ...(await goodHeaders(acme)), ...headers } })
const hits = async () => (await sandbox.faults.list()).map((one) => one.hits)

describe('drop_connection', () => {
  test.each(['on_request', 'during_response'] as const)('resets or closes the connection %s', async (phase) => {
    await fault({ kind: 'drop_connection', phase, with: { how: 'reset' } })
    await expect(pools()).rejects.toMatchObject({ code: 'ECONNRESET' })
    await fault({ kind: 'drop_connection', phase, with: { how: 'close' } })
    await expect(pools()).rejects.toThrow('socket hang up')
    expect((await pools()).status).toBe(200)
  })

  test.each(['on_request', 'during_response'] as const)('truncates the answer after n bytes, %s', async (phase) => {
    await fault({ kind: 'drop_connection', phase, with: { how: 'truncate', bytes: 5 } })
    await expect(pools()).rejects.toThrow('aborted')
    const bytes = await received('/v1/partner/pools')
    expect(bytes).toBeUndefined()
    await fault({ kind: 'drop_connection', phase, with: { how: 'truncate', bytes: 5 } })
    expect(await received('/v1/partner/pools')).toBe('{"dat')
  })

  test('on_request, nothing happens', async () => {
    await fault({ kind: 'drop_connection', phase: 'on_request', match: { operation: 'create_end_user' } })
    await expect(acme.post('end_users', { external_id: 'nobody' })).rejects.toThrow()
    expect(outcome(await acme.get('end_users/nobody/portfolios'))).toBe('404 end_user_not_found')
  })
})

describe('hang', () => {
  test.each(['on_request', 'during_response'] as const)(
    '%s: no answer until the fault is taken away',
    async (phase) => {
      await fault({ kind: 'hang', phase })
      const request = pools()
      request.catch(() => undefined)
      await struck(sandbox)
      expect(await isOpen(sandbox, request)).toBe(true)
      await sandbox.faults.clear()
      await expect(request).rejects.toThrow('socket hang up')
    },
  )

  test.each(['on_request', 'during_response'] as const)(
    '%s: the request has happened only if it got that far',
    async (phase) => {
      const external_id = phase.replace('_', '-')
      await fault({ kind: 'hang', phase, match: { operation: 'create_end_user' } })
      const request = acme.post('end_users', { external_id })
      request.catch(() => undefined)
      await struck(sandbox)
      await isOpen(sandbox, request)
      const found = phase === 'on_request' ? '404 end_user_not_found' : '200'
      expect(outcome(await acme.get(`end_users/${external_id}/portfolios`))).toBe(found)
    },
  )
})

describe('latency', () => {
  test.each(['on_request', 'during_response'] as const)('waits on the sandbox clock, %s', async (phase) => {
    await fault({ kind: 'latency', phase, with: { delay: '2s' } })
    const request = pools()
    await struck(sandbox)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.clock.advance(1_999)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.clock.advance(1)
    expect((await request).status).toBe(200)
  })

  test('draws from a range', async () => {
    await fault({ kind: 'latency', with: { delay: '1s-3s' } })
    const request = pools()
    await struck(sandbox)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.clock.advance(999)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.clock.advance(2_001)
    expect((await request).status).toBe(200)
  })

  test('lets go when the fault is taken away', async () => {
    await fault({ kind: 'latency', with: { delay: '8d' } })
    const request = pools()
    await struck(sandbox)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.faults.clear()
    expect((await request).status).toBe(200)
  })

  test('sends the body byte by byte', async () => {
    const whole = (await pools()).text
    await fault({ kind: 'latency', with: { bytes_per_second: 100 } })
    const request = pools()
    const begun = await sandbox.clock.now()
    while (await isOpen(sandbox, request)) sandbox.clock.advance(1_000)
    expect((await request).text).toBe(whole)
    expect((await sandbox.clock.now()) - begun).toBeGreaterThanOrEqual(Math.floor(whole.length / 100) * 1000)
  })
})

describe('error', () => {
  test.each([
    [429, 'rate_limited'],
    [500, 'internal_error'],
    [502, 'bad_gateway'],
    [503, 'service_unavailable'],
    [504, 'gateway_timeout'],
  ] as const)('answers %i with Retry-After, on_request and during_response', async (status, code) => {
    for (const phase of ['on_request', 'during_response'] as const) {
      await fault({ kind: 'error', phase, with: { status, retry_after: 7 } })
      const answer = await acme.get('pools')
      expect(answer).toMatchObject({ status, body: { code, status } })
      expect(answer.headers.get('retry-after')).toBe('7')
      expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
      expect(answer.headers.get('x-service-request-id')).toBe(answer.body.request_id)
    }
  })

  test('answers any code of the catalogue', async () => {
    await fault({ kind: 'error', with: { code: 'sub_url_mismatch' } })
    expect(outcome(await acme.get('pools'))).toBe('403 sub_url_mismatch')
  })

  test('without parameters it is 500 internal_error, without Retry-After', async () => {
    await fault({ kind: 'error' })
    const answer = await acme.get('pools')
    expect(outcome(answer)).toBe('500 internal_error')
    expect(answer.headers.get('retry-after')).toBeNull()
  })

  test('during_response the request has happened', async () => {
    await fault({ kind: 'error', phase: 'during_response', match: { operation: 'create_end_user' } })
    expect(outcome(await acme.post('end_users', { external_id: 'erin' }))).toBe('500 internal_error')
    expect(outcome(await acme.get('end_users/erin/portfolios'))).toBe('200')
  })

  test('says that a fault did it, and which', async () => {
    for (const phase of ['on_request', 'during_response'] as const) {
      const { id } = await fault({ kind: 'error', phase })
      const { body } = await acme.get('pools')
      expect(body).toMatchObject({
        title: 'Internal error',
        detail: `The fault ${id} asks for this error; nothing failed.`,
      })
    }
  })
})

describe('malformed_body', () => {
  test("html: a proxy's page, without the service's headers", async () => {
    await fault({ kind: 'malformed_body', with: { how: 'html' } })
    const answer = await pools()
    expect(answer).toMatchObject({ status: 502, headers: { 'content-type': 'text/html' } })
    expect(answer.text).toContain('<h1>502 Bad Gateway</h1>')
    expect(answer.headers['x-service-api-version']).toBeUndefined()
  })

  test('cut: half of the JSON, with a content-length that fits', async () => {
    const whole = (await pools()).text
    await fault({ kind: 'malformed_body', with: { how: 'cut' } })
    const answer = await pools()
    expect(answer).toMatchObject({ status: 200, text: whole.slice(0, Math.floor(whole.length / 2)) })
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)))
    expect(() => JSON.parse(answer.text)).toThrow()
  })
})

describe('unknown_fields', () => {
  test('adds fields to every object of a good answer and changes none', async () => {
    const { body: before } = await acme.get('pools')
    await fault({ kind: 'unknown_fields' })
    const { body } = await acme.get('pools')
    expect(body).toMatchObject(before)
    for (const object of [body, ...body.data]) {
      expect(object).toMatchObject({ added_text: expect.any(String), added_object: { added_text: expect.any(String) } })
    }
  })

  test("replaces an error's code by a new one of the same status", async () => {
    await fault({ kind: 'unknown_fields', with: { error_code: 'end_user_frozen' } })
    const answer = await acme.get('end_users/nobody/portfolios')
    expect(outcome(answer)).toBe('404 end_user_frozen')
    expect(answer.body).toMatchObject({ type: 'urn:yield-partner-api:error:end_user_frozen', added_flag: true })
  })
})

describe('deprecation', () => {
  test('announces in the forms of RFC 9745 and RFC 8594', async () => {
    const link = 'https://example.com/v2'
    await fault({ kind: 'deprecation', with: { since: '2027-01-31', sunset: '2028-02-29T12:00:00Z', link } })
    const { headers, status } = await acme.get('pools')
    expect(status).toBe(200)
    expect(headers.get('deprecation')).toBe(`@${Date.UTC(2027, 0, 31) / 1000}`)
    expect(headers.get('sunset')).toBe('Tue, 29 Feb 2028 12:00:00 GMT')
    expect(headers.get('link')).toBe('<https://example.com/v2>; rel="deprecation"; type="text/html"')
  })

  test('is as of now, and a year ahead, unless told otherwise', async () => {
    await fault({ kind: 'deprecation' })
    const { headers } = await acme.get('pools')
    const now = await sandbox.clock.now()
    expect(headers.get('deprecation')).toBe(`@${Math.floor(now / 1000)}`)
    expect(Date.parse(headers.get('sunset')!)).toBe(Math.floor(now / 1000) * 1000 + 365 * 86_400_000)
    expect(headers.get('link')).toBeNull()
  })
})

describe('cursors', () => {
  test.each([
    ['expired_cursor', '410 cursor_expired'],
    ['invalid_cursor', '400 cursor_invalid'],
  ] as const)('%s refuses a genuine one: %s; requests without one pass uncounted', async (kind, refusal) => {
    await fault({ kind })
    const { next_cursor } = (await acme.get('pools?limit=1')).body
    expect(await hits()).toEqual([0])
    expect(outcome(await acme.get(`pools?limit=1&starting_after=${next_cursor}`))).toBe(refusal)
    expect(outcome(await acme.get(`pools?limit=1&starting_after=${next_cursor}`))).toBe('200')
  })
})

describe('access', () => {
  test.each([
    ['unknown_partner', '401 unknown_partner'],
    ['insufficient_role', '403 insufficient_role'],
  ] as const)('%s: %s', async (kind, refusal) => {
    await fault({ kind })
    expect(outcome(await acme.get('pools'))).toBe(refusal)
    expect(outcome(await acme.get('pools'))).toBe('200')
  })
})

/** What came of a body before its connection broke; undefined when it came whole. */
async function received(path: string): Promise<string | undefined> {
  const response = await fetch(`${sandbox.baseUrl}${path}`, { headers: await goodHeaders(acme) })
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of response.body!) chunks.push(chunk)
    return undefined
  } catch {
    return Buffer.concat(chunks).toString()
  }
}

test('what a fault does to one request leaves its repetition under the same key sound', async () => {
  const key = randomUUID()
  await fault({ kind: 'malformed_body', match: { operation: 'create_portfolio' } })
  const body = await acme.portfolioBody('aave-usdc')
  await expect(acme.post('end_users/alice/portfolios', body, { key })).rejects.toThrow(SyntaxError)
  const again = await acme.post('end_users/alice/portfolios', body, { key })
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotency-key-replay')).toBe('true')
})
