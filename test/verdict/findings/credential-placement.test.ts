import { expect, test } from 'vitest'
import { credentialPlacement } from '../../../src/verdict/findings/credential-placement.ts'
import { evidenceOf } from '../evidence.ts'
import { type ExchangeParts, exchange } from '../exchange.ts'
import { fetchOf, poolsWith } from '../token-traffic.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => credentialPlacement.judge(evidenceOf(exchanges))
const sending = (request: ExchangeParts['request'] = {}) => judged(exchange({ request }))

test('without a token asked for and sent there is nothing to judge', () => {
  expect(judged(poolsWith('T')).outcome).toBe('not_exercised')
  expect(judged(fetchOf('T')).outcome).toBe('not_exercised')
})

test('a form and headers pass, and so do a limit and a cursor in the URL', () => {
  const headers: [string, string][] = [
    ['authorization', 'Bearer [token 0123456789ab]'],
    ['x-session-id', '[redacted]'],
  ]
  const query: [string, string][] = [
    ['limit', '2'],
    ['starting_after', 'eyJhIjoxfQ'],
    ['page_token', 'x'],
  ]
  expect(judged(fetchOf('T'), poolsWith('T', { request: { headers, query } })).outcome).toBe('passed')
})

test.each<[string, ExchangeParts['request']]>([
  ['the query parameter "client_secret"', { query: [['client_secret', '[redacted]']] }],
  ['the query parameter "access_token"', { query: [['access_token', 'x']] }],
  ['the query parameter "q"', { query: [['q', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.[signature]']] }],
  ['the path', { path: '/v1/eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.[signature]/pools' }],
  ['the path', { path: '/oauth2/token/[redacted]' }],
  ['the header "X-Client-Secret"', { headers: [['X-Client-Secret', '[redacted]']] }],
])('%s fails', (came, request) => {
  expect(sending(request)).toMatchObject({ outcome: 'failed', came, request_ids: { length: 1 } })
})

test('an empty value is no credential', () => {
  expect(sending({ query: [['access_token', '']], headers: [['X-Client-Secret', '']] }).outcome).toBe('not_exercised')
})

test('two requests show it, right or wrong', () => {
  const wrong = [1, 2, 3].map(() => exchange({ request: { path: '/oauth2/token/[redacted]' } }))
  expect(judged(...wrong).request_ids).toEqual(wrong.slice(0, 2).map(({ request_id }) => request_id))
  const [asked, used] = [fetchOf('T'), poolsWith('T')]
  expect(judged(asked, used, poolsWith('T')).request_ids).toEqual([asked.request_id, used.request_id])
})
