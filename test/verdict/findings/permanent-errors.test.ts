import { describe, expect, test } from 'vitest'
import { permanentErrors } from '../../../src/verdict/findings/permanent-errors.ts'
import { evidenceOf } from '../evidence.ts'
import { ABANDONED, answered, customer, list, token, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => permanentErrors.judge(evidenceOf(exchanges))
const REFUSED = answered(422, 'insufficient_balance')
const UNKNOWN = answered(404, 'end_user_not_found')
const refusedTransfers = (...times: number[]) => times.map((at) => transfer(1, at, REFUSED))
const unknownLists = (...times: number[]) => times.map((at) => list(at, [], UNKNOWN))

describe('fails when', () => {
  test('a refused transfer comes again and again under its key', () => {
    const exchanges = refusedTransfers(0, 100, 200, 300)
    expect(judged(...exchanges)).toMatchObject({
      outcome: 'failed',
      came: '3 repetitions',
      request_ids: exchanges.slice(0, 3).map(({ request_id }) => request_id),
    })
  })

  test('it does so on a connection each, as a shell script', () => {
    const exchanges = refusedTransfers(0, 100, 200).map((one, n) => ({ ...one, connection: n + 1 }))
    expect(judged(...exchanges).outcome).toBe('failed')
  })
})

test('several are counted, and one that is answered in the end is among its own repetitions', () => {
  const others = [400, 500, 600].map((at) => transfer(2, at, REFUSED))
  expect(judged(...refusedTransfers(0, 100), transfer(1, 200), ...others).explanation).toBe(
    "alice's deposit of 1000 minor units was answered 422 insufficient_balance and came again as it was 2 times. 2 requests were repeated so.",
  )
  expect(judged(...refusedTransfers(0, 100, 200)).explanation).toMatch(/ came again as it was 2 times\.$/)
})

test('it fails though tokens and lists come in between: they change nothing', () => {
  const [first, ...others] = refusedTransfers(0, 100, 200)
  for (const between of [token(50), list(50)]) expect(judged(first!, between, ...others).outcome).toBe('failed')
})

test('it fails though other refusals come in between', () => {
  const [first, ...others] = refusedTransfers(0, 100, 200)
  expect(judged(first!, transfer(9, 50, answered(300)), ...others).outcome).toBe('failed')
  expect(judged(first!, transfer(9, 50, { response: null }), ...others).outcome).toBe('failed')
})

test('a repetition may come at the moment of the answer', () => {
  expect(judged(...refusedTransfers(0, 5, 10)).outcome).toBe('failed')
})

describe('needs review when', () => {
  test.each([
    ['a refused transfer comes once more', refusedTransfers(0, 100)],
    [
      'a request without a key comes in a row, perhaps of a test each',
      [0, 10, 20].map((at) => customer(at, { ...answered(403), request: { body: '{"external_id":"bob"}' } })),
    ],
    ['a list is asked for many times in a row, perhaps by a test each', unknownLists(0, 10, 20, 30, 40)],
    [
      'one key came again and again, and the bodies are not on record',
      [0, 100, 200, 300].map((at) => transfer(1, at, { ...REFUSED, ...UNREAD })),
    ],
    [
      'customers are created one after another, and the bodies are not on record',
      [0, 10, 20, 30].map((at) => customer(at, answered(403, 'insufficient_role'))),
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('needs_review')
  })

  test('the client is still there', () => {
    const judge = (...exchanges: Parameters<typeof evidenceOf>[0]) =>
      permanentErrors.judge(evidenceOf(exchanges, { ended: false }))
    const [only] = refusedTransfers(0)
    expect(judge(only!)).toEqual({
      outcome: 'needs_review',
      explanation:
        "alice's deposit of 1000 minor units was answered 422 insufficient_balance. Nothing has followed so far.",
      request_ids: [only?.request_id],
    })
    expect(judge(only!, list(10)).outcome).toBe('passed')
  })

  test('why is said', () => {
    expect(judged(...refusedTransfers(0, 100)).explanation).toMatch(
      / and came again as it was 1 time\. A test suite may do so on purpose\.$/,
    )
    const unread = [0, 100, 200, 300].map((at) => transfer(1, at, { ...REFUSED, ...UNREAD }))
    expect(judged(...unread)).toMatchObject({
      explanation: expect.stringMatching(/Not all their bodies are on record, so they may differ\.$/),
      request_ids: { length: 3 },
    })
    expect(judged(...unknownLists(0, 10, 20)).explanation).toMatch(/A test suite may do so on purpose\.$/)
    const bare = [0, 100].map((at) => transfer(1, at, answered(404)))
    expect(judged(...bare).explanation).toContain(' was answered 404 and came again')
  })
})

describe('passes when', () => {
  test.each([
    ['nothing is repeated', [...refusedTransfers(0), transfer(2, 10)]],
    ['it is 400', [transfer(1, 0, answered(400, 'invalid_request'))]],
    ['two tests ask for an unknown end user one right after the other', unknownLists(0, 10)],
    ['other requests are in between', [0, 1, 2, 3, 4].flatMap((n) => [...unknownLists(n * 20), list(n * 20 + 10)])],
    [
      'workers ask for it on their own connections',
      unknownLists(0, 10, 20, 30, 40).map((one, n) => ({ ...one, connection: n % 2 })),
    ],
    [
      'other customers are created one after another',
      [1, 2, 3, 4].map((n) => customer(n * 10, { ...answered(403), request: { body: `{"external_id":"user-${n}"}` } })),
    ],
    ['tests take a fresh key each', [1, 2, 3, 4, 5].map((n) => transfer(n, n * 10, REFUSED))],
    [
      'a deposit came in between',
      refusedTransfers(0, 20, 40, 60).flatMap((one, n) => [one, transfer(n + 5, n * 20 + 10)]),
    ],
    [
      'one in between had no answer, and may have changed something',
      refusedTransfers(0, 20, 40).flatMap((one, n) => [one, transfer(n + 5, n * 20 + 10, ABANDONED)]),
    ],
    ['they were on their way at once', [1, 2, 3, 4].map(() => transfer(1, 0, REFUSED))],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('passed')
  })
})

test.each([
  ['401', answered(401, 'invalid_idp_token')],
  ['409', answered(409, 'idempotency_key_in_progress')],
  ['429', answered(429, 'rate_limited')],
  ['500', answered(500)],
  ['503', answered(503)],
  ['an answer that was cut short', { ...REFUSED, end: 'dropped' as const }],
  ['no answer', { response: null }],
  ['transaction_reverted', answered(422, 'transaction_reverted')],
  ['cursor_expired', answered(410, 'cursor_expired')],
])('repeating after %s exercises nothing here', (_what, parts) => {
  expect(judged(...[0, 10, 20, 30].map((at) => transfer(1, at, parts)))).toMatchObject({ outcome: 'not_exercised' })
})

test('neither does the token endpoint', () => {
  expect(judged(...[0, 10, 20, 30].map((at) => token(at, answered(400, 'invalid_scope')))).outcome).toBe(
    'not_exercised',
  )
})

test('neither do paths that are no operation', () => {
  expect(judged(...[0, 10, 20].map((at) => transfer(1, at, { ...UNKNOWN, operation: null }))).outcome).toBe(
    'not_exercised',
  )
})

test('a passed one is shown by the first refusal', () => {
  const first = transfer(1, 10, REFUSED)
  expect(judged(list(0), first, transfer(2, 20, REFUSED)).request_ids).toEqual([first.request_id])
})
