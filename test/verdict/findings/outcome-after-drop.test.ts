import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { outcomeAfterDrop } from '../../../src/verdict/findings/outcome-after-drop.ts'
import { evidenceOf } from '../evidence.ts'
import { ABANDONED, answered, carriedOut, DROPPED, key, list, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: RecordedExchange[]) => outcomeAfterDrop.judge(evidenceOf(exchanges))
const dropped = transfer(1, 0, { ...DROPPED, ...carriedOut('tx_a') })

describe('fails when', () => {
  test('another transfer follows and nobody asked', () => {
    const next = transfer(2, 10, { amount: '70' })
    expect(judged(dropped, next)).toMatchObject({
      outcome: 'failed',
      came: "alice's deposit of 70 minor units",
      request_ids: [dropped.request_id, next.request_id],
    })
    expect(judged(dropped, transfer(2, 10, { operation: 'withdraw' })).outcome).toBe('failed')
  })

  test('nothing follows and the client has ended', () => {
    expect(judged(dropped)).toMatchObject({ outcome: 'failed', came: 'nothing' })
  })

  test('the only retry was refused before its key was looked at', () => {
    const refused = { ...answered(403, 'insufficient_role'), idempotency: { key: key(1), use: 'unused' as const } }
    expect(judged(dropped, transfer(1, 10, refused)).outcome).toBe('failed')
  })

  test('it happens again and again, and says how often', () => {
    const exchanges = [1, 2, 3].map((n) =>
      transfer(n, n * 10, { ...DROPPED, ...carriedOut(`tx_${n}`), amount: `${n}` }),
    )
    expect(judged(...exchanges).explanation).toContain('3 times')
  })
})

test('a key that was answered before leaves nothing to find out, unless it moved money once more', () => {
  const done = transfer(1, 0, carriedOut('tx_a'))
  expect(judged(done, transfer(1, 10, { ...DROPPED, amount: '7' })).outcome).toBe('not_exercised')
  expect(judged(done, transfer(1, 10, { ...DROPPED, ...carriedOut('tx_a') })).outcome).toBe('not_exercised')
  expect(judged(done, transfer(1, 10, { ...DROPPED, ...carriedOut('tx_b') })).outcome).toBe('failed')
  expect(judged(dropped, transfer(1, 10, { ...DROPPED, amount: '7' })).outcome).toBe('failed')
})

test('the gravest of several is said, and how many there were', () => {
  const of = (external_id: string, ...exchanges: RecordedExchange[]) =>
    exchanges.map((one) => ({ ...one, external_id }))
  const found = of('bob', dropped, transfer(1, 10))
  const unsure = of('cleo', dropped, list(10))
  const silent = of('dora', dropped)
  expect(judged(...found, ...unsure, ...silent).explanation).toBe(
    "dora's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. Nothing followed that shows what became of it.",
  )
  expect(judged(...found, ...unsure).explanation).toBe(
    "cleo's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. Its client asked for the list of transactions 1 time, and stopped before the transaction was in it.",
  )
  const told =
    "bob's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. It was repeated under the same key and answered."
  expect(judged(...found).explanation).toBe(told)
  expect(judged(...found, ...of('dora', dropped, list(10, ['tx_a']))).explanation).toBe(
    `${told} So it was with 1 other.`,
  )
})

test('what shows it is named', () => {
  const known = list(10, ['tx_a'])
  expect(judged(dropped, known)).toEqual({
    outcome: 'passed',
    explanation:
      "alice's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. Its client looked it up in the list of transactions.",
    request_ids: [dropped.request_id, known.request_id],
  })
  const look = list(10)
  expect(judged(dropped, look).request_ids).toEqual([dropped.request_id, look.request_id])
  const next = transfer(2, 10, { amount: '70' })
  expect(judged(dropped, next).explanation).toBe(
    "alice's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. 5 ms later came alice's deposit of 70 minor units, though nobody had found out what became of the first.",
  )
  for (const end of ['well', 'failed'] as const)
    expect(outcomeAfterDrop.judge(evidenceOf([dropped], { end })).request_ids).toEqual([dropped.request_id])
  expect(outcomeAfterDrop.judge(evidenceOf([dropped], { ended: false }))).toMatchObject({
    request_ids: [dropped.request_id],
  })
})

describe('while another worker is busy', () => {
  const other = transfer(2, 20, { amount: '7', until: 90 })

  test('a list that shows it later is enough, and is shown', () => {
    const later = list(120, ['tx_a'])
    expect(judged(dropped, other, list(22, [], { until: 80 }), later)).toMatchObject({
      outcome: 'passed',
      request_ids: [dropped.request_id, later.request_id],
    })
  })

  test.each([
    ['a list without it', [list(120)]],
    ['another answer with its name', [list(120, ['tx_a'], { operation: 'list_portfolios' })]],
    ['a list from before', []],
  ])('%s is not', (_what, rest) => {
    const before = list(0, ['tx_a'], { until: 4 })
    expect(judged(before, dropped, other, list(22, [], { ...DROPPED, until: 80 }), ...rest).outcome).toBe(
      'needs_review',
    )
  })
})

test('the next transfer is another one when only the retries were not read', () => {
  const retry = transfer(1, 10, { ...DROPPED, ...UNREAD })
  expect(judged(dropped, retry, transfer(2, 20, { amount: '70' })).outcome).toBe('failed')
})

test('a withdrawal is not the deposit again, whatever is on record', () => {
  expect(judged(dropped, transfer(2, 10, { operation: 'withdraw', ...UNREAD })).outcome).toBe('failed')
})

describe('why it is not certain is said:', () => {
  const reason = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
    outcomeAfterDrop.judge(evidenceOf(exchanges, rest)).explanation.split(' But ')[1]
  const next = transfer(2, 10, { amount: '70' })
  const portfolios = list(20, [], { operation: 'list_portfolios' })

  test.each([
    [
      'an error of the server',
      [transfer(1, 0, { ...answered(504), ...carriedOut('tx_a') })],
      {},
      'the specification says so',
    ],
    ['nothing was done', [transfer(1, 0, DROPPED)], {}, 'it was not carried out'],
    [
      'the client left',
      [transfer(1, 0, { ...ABANDONED, ...carriedOut('tx_a') })],
      {},
      'the client may have been ended',
    ],
    ['a list', [dropped, next, list(20)], {}, 'the list of transactions was asked for later'],
    ['a list without an answer', [dropped, next, list(20, [], DROPPED)], {}, 'its client asked for the list of'],
    ['the portfolios', [dropped, next, portfolios], {}, 'its client asked for the portfolios'],
    ['the chain, at once', [dropped], { rpc_at: 5 }, 'the chain was asked afterwards'],
    ['the client is there', [dropped, next], { ended: false }, 'the client has not ended yet'],
    ['a failure', [dropped], { end: 'failed' as const }, 'its command ended with a failure'],
    ['a hang', [dropped], { end: 'hung' as const }, 'its command did not end by itself'],
    ['an unknown end', [dropped], { end: null }, 'nobody knows how its command ended'],
  ])('%s', (_what, exchanges, rest, why) => {
    expect(reason(exchanges, rest)?.startsWith(why)).toBe(true)
  })

  test('requests that were under way or came before say nothing', () => {
    const late = transfer(1, 40, { ...DROPPED, ...carriedOut('tx_a') })
    expect(judged(list(0, ['tx_a']), portfolios, late, transfer(2, 50, { amount: '70' })).outcome).toBe('failed')
    expect(judged(dropped, list(3, ['tx_a'], { until: 9 }), next).outcome).toBe('failed')
    expect(reason([dropped, list(5, [], DROPPED), next])).toContain('its client asked for the list')
  })
})

describe('passes when', () => {
  test.each([
    ['the request is repeated under its key', [dropped, transfer(1, 10)]],
    ['the repetition is refused for good', [dropped, transfer(1, 10, answered(422, 'transaction_reverted'))]],
    [
      'the list is asked for until the transaction is there',
      [dropped, list(10), list(500, ['tx_a']), transfer(2, 600)],
    ],
    ['the list shows that nothing had been done', [transfer(1, 0, DROPPED), list(10), transfer(2, 20)]],
    [
      'another worker sends a transfer before the repetition',
      [dropped, transfer(2, 6, { amount: '7' }), transfer(1, 20)],
    ],
    [
      'another worker sends one while the list is asked for',
      [dropped, transfer(2, 6, { amount: '7', until: 90 }), list(20), list(99, ['tx_a'])],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('passed')
  })
})

describe('needs review when', () => {
  test.each([
    ['the list is asked for and the transaction was not there yet', [dropped, list(10), transfer(2, 20)]],
    ['an error of the server is passed over', [transfer(1, 0, answered(504)), transfer(2, 10, { amount: '7' })]],
    ['the client itself left, and nothing follows', [transfer(1, 0, ABANDONED)]],
    ['it was not carried out, and nothing follows', [transfer(1, 0, DROPPED)]],
    ['it was not carried out, and another one follows', [transfer(1, 0, DROPPED), transfer(2, 10, { amount: '70' })]],
    ['the list was asked for in vain', [dropped, list(10, [], DROPPED)]],
    ['only the portfolios were asked for', [dropped, list(10, [], { operation: 'list_portfolios' })]],
    ['a list after the next transfer shows it', [dropped, transfer(2, 10, { amount: '70' }), list(20, ['tx_a'])]],
    [
      'the portfolios are asked for after the next transfer',
      [dropped, transfer(2, 10, { amount: '70' }), list(20, [], { operation: 'list_portfolios' })],
    ],
    [
      'another transfer follows, and the bodies are known by their lengths only',
      [{ ...dropped, request: { ...dropped.request, body: null } }, transfer(2, 10, { amount: '70' })],
    ],
    [
      'other workers were busy for the same end user',
      [
        transfer(1, 0, { ...DROPPED, until: 60 }),
        transfer(3, 20, { until: 80, amount: '5' }),
        transfer(2, 90, { amount: '7' }),
      ],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('needs_review')
  })

  test.each(['failed', 'hung', null] as const)('the command ended so: %s', (end) => {
    const judge = (...exchanges: RecordedExchange[]) => outcomeAfterDrop.judge(evidenceOf(exchanges, { end })).outcome
    expect(judge(dropped)).toBe('needs_review')
    expect(judge(dropped, transfer(2, 10, { amount: '70' }))).toBe('needs_review')
  })

  test('the chain was asked afterwards', () => {
    expect(outcomeAfterDrop.judge(evidenceOf([dropped], { rpc_at: 100 })).outcome).toBe('needs_review')
    expect(outcomeAfterDrop.judge(evidenceOf([dropped], { rpc_at: 1 })).outcome).toBe('failed')
  })

  test('the client is still there', () => {
    expect(outcomeAfterDrop.judge(evidenceOf([dropped], { ended: false }))).toMatchObject({
      outcome: 'needs_review',
      explanation: expect.stringContaining('so far'),
    })
  })
})

test.each([
  ['by answered transfers', [transfer(1, 0)]],
  ['by a retry under a fresh key', [dropped, transfer(2, 10)]],
  [
    'by a client whose retries were dropped as well, and that pays anew',
    [dropped, transfer(1, 10, { ...DROPPED, ...UNREAD }), transfer(2, 20)],
  ],
  ['by a dropped list', [list(0, [], DROPPED)]],
])('is not exercised %s', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test("a dropped deposit that is another finding's is not called undropped", () => {
  expect(judged(dropped, transfer(2, 10)).explanation).toBe(
    "alice's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. The same came under another Idempotency-Key, which idempotency-key-on-retry and idempotency-key-after-error judge.",
  )
})
