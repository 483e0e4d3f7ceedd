import { describe, expect, test } from 'vitest'
import { harOf, harPieces } from '../../src/traffic/har.ts'
import { exchange } from '../verdict/exchange.ts'
import { harObjections } from './har-validator.ts'

const MAKER = { version: '1.2.3', baseUrl: 'http://127.0.0.1:4010' }

describe('an archive', () => {
  test('says who made it, and has its entries oldest first', () => {
    const [older, newer] = [exchange({ at: 1000 }), exchange({ at: 2000 })]
    const har = harOf([newer, older], MAKER)
    expect(har.log).toMatchObject({ version: '1.2', creator: { name: 'yield-sandbox', version: '1.2.3' }, pages: [] })
    expect(har.log.entries.map(({ startedDateTime }) => startedDateTime)).toEqual([
      '1970-01-01T00:00:01.000Z',
      '1970-01-01T00:00:02.000Z',
    ])
    expect(harObjections(har)).toBe('')
    expect(harObjections(harOf([], MAKER))).toBe('')
  })

  test('is written piece by piece, each of one exchange, to the same text', async () => {
    const oldestFirst = Array.from({ length: 50 }, (_, i) => exchange({ at: i, request: { body: 'x'.repeat(10_000) } }))
    async function* inOrder() {
      yield* oldestFirst
    }
    const pieces: string[] = []
    for await (const piece of harPieces(inOrder(), MAKER)) pieces.push(piece)
    expect(JSON.parse(pieces.join(''))).toEqual(JSON.parse(JSON.stringify(harOf(oldestFirst.toReversed(), MAKER))))
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(15_000)
    async function* none() {}
    const nothing: string[] = []
    for await (const piece of harPieces(none(), MAKER)) nothing.push(piece)
    expect(JSON.parse(nothing.join(''))).toEqual(harOf([], MAKER))
  })

  test('the validator sees what is wrong', () => {
    const har = harOf([exchange()], MAKER)
    Object.assign(har.log.entries[0]!.request, { url: 'a b' })
    expect(harObjections(har)).toContain('url')
  })

  test('has request and answer in the words of HAR, and the rest beside them', () => {
    const answered = exchange({
      until: 12.5,
      connection: 3,
      request: {
        query: [
          ['limit', '1'],
          ['limit', 'a b&c'],
        ],
        headers: [
          ['Content-Type', 'application/json'],
          ['X-A', 'b'],
        ],
        body: '{"a":1}',
        body_bytes: 7,
      },
      response: { status: 201, headers: [['content-type', 'application/json']], body: '{}', body_bytes: 2 },
    })
    const [entry] = harOf([answered], MAKER).log.entries
    expect(entry).toMatchObject({
      time: 12.5,
      timings: { send: 0, wait: 12.5, receive: 0 },
      connection: '3',
      request: {
        url: 'http://127.0.0.1:4010/v1/partner/end_users/alice/deposit?limit=1&limit=a+b%26c',
        headers: [
          { name: 'Content-Type', value: 'application/json' },
          { name: 'X-A', value: 'b' },
        ],
        queryString: [
          { name: 'limit', value: '1' },
          { name: 'limit', value: 'a b&c' },
        ],
        postData: { mimeType: 'application/json', text: '{"a":1}' },
        bodySize: 7,
      },
      response: { status: 201, statusText: 'Created', content: { size: 2, mimeType: 'application/json', text: '{}' } },
      _sandbox: { request_id: answered.request_id, tenant: 'acme', external_id: 'alice', operation: 'deposit' },
    })
    expect(entry!.response).not.toHaveProperty('_error')
  })

  test.each([
    [{ end: 'dropped', dropped: 'reset' }, 'dropped by a fault: reset'],
    [{ end: 'dropped', dropped: 'truncated' }, 'dropped by a fault: truncated'],
    [{ end: 'abandoned' }, 'abandoned by the client'],
    [{ end: 'cut_off' }, 'cut off by a reset, or the end of a process of the sandbox'],
    [{ end: 'open', ended: null }, 'not over yet'],
  ] as const)('one without an answer, %j, has the status 0 and says why', (parts, error) => {
    for (const response of [null, {}]) {
      const har = harOf([exchange({ ...parts, response })], MAKER)
      const [entry] = har.log.entries
      expect(entry!.response).toMatchObject({ status: 0, headers: [], content: { size: 0 }, _error: error })
      expect(entry!._sandbox.response?.status).toBe(response === null ? undefined : 200)
      expect(harObjections(har)).toBe('')
    }
  })

  test('what was cut says so, and a body of no type has one that says nothing', () => {
    const [entry] = harOf([exchange({ request: { body: 'x', body_cut: true }, response: { body_cut: true } })], MAKER)
      .log.entries
    expect(entry!.request.postData).toEqual({
      mimeType: 'x-unknown',
      text: 'x',
      comment: 'only the beginning was kept',
    })
    expect(entry!.response.content.comment).toBe('only the beginning was kept')
  })

  test('hostile paths, names and texts make a sound archive', () => {
    const path = '/v1/<script>\u001b[2J\u0000\ud800é{}|\\^`" x'
    const har = harOf([exchange({ request: { path, query: [['\ud800', '\u0000']], body: '\ud800' } })], MAKER)
    expect(harObjections(har)).toBe('')
    const { url } = har.log.entries[0]!.request
    expect(url).toMatch(/^[!#-;=?-[\]_a-z~]+$/)
    expect(url).toContain('%3Cscript%3E%1B[2J%00%EF%BF%BD%C3%A9')
  })
})
