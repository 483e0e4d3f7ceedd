import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { singleTransfer } from '../../../src/verdict/findings/single-transfer.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, carriedOut, DROPPED, list, transfer, UNREAD } from '../requests.ts'

/** Everything that was carried out is in the ledger. */
function judged(...exchanges: RecordedExchange[]) {
  const transfers = exchanges.flatMap(({ transfer: one, tenant, external_id }) =>
    one === null
      ? []
      : [
          {
            ...one,
            tenant: tenant!,
            external_id: external_id!,
            key: '',
            transaction_id: one.transaction_id!,
            tx_hash: one.tx_hash!,
          },
        ],
  )
  return singleTransfer.judge(evidenceOf(exchanges, { transfers }))
}

const shown = (fingerprint: string) => ({ fingerprint, header: null, claims: null })
const dropped = transfer(1, 0, { ...DROPPED, ...carriedOut('tx_a') })
const again = transfer(2, 50, { ...carriedOut('tx_b'), connection: 2 })

describe('fails when', () => {
  test('the list was asked for, and the same paid again before it showed the first', () => {
    const look = list(20, [], { connection: 2 })
    const judgement = judged(dropped, look, again, list(90, ['tx_a', 'tx_b']))
    expect(judgement).toMatchObject({
      outcome: 'failed',
      request_ids: [dropped, look, again].map((one) => one.request_id),
    })
    expect(judgement.explanation).toContain('0xtx_a and 0xtx_b')
  })

  test('a pool of connections sends the look and the second with the same tokens', () => {
    const tokens = { idp_token: shown('idp'), user_token: shown('alice') }
    const look = list(20, [], { connection: 3, request: tokens })
    const body = JSON.stringify({ portfolio_id: 'jar_1', amount_minor: '1000' })
    const pooled = transfer(2, 50, { ...carriedOut('tx_b'), connection: 2, request: { body, ...tokens } })
    expect(judged(dropped, look, pooled).outcome).toBe('failed')
    const stranger = { ...pooled, request: { ...pooled.request, user_token: shown('alice, minted by another') } }
    expect(judged(dropped, look, stranger).outcome).toBe('needs_review')
  })

  test('retries were in vain before', () => {
    const retry = transfer(1, 10, { ...DROPPED, ...UNREAD })
    expect(judged(dropped, retry, list(20, [], { connection: 2 }), again).outcome).toBe('failed')
  })

  test('a proxy had given up', () => {
    const timeout = transfer(1, 0, { ...answered(504), ...carriedOut('tx_a') })
    expect(judged(timeout, list(20, [], { connection: 2 }), again).outcome).toBe('failed')
  })
})

test('it says how often, and the certain ones come first', () => {
  const bobs = (at: number, connection: number) => [
    transfer(3, at, { ...DROPPED, ...carriedOut('tx_c'), external_id: 'bob' }),
    list(at + 20, [], { external_id: 'bob', connection }),
    transfer(4, at + 50, { ...carriedOut('tx_d'), external_id: 'bob', connection: 2 }),
  ]
  const alices = (connection: number) => [dropped, list(20, [], { connection }), again]
  expect(judged(...alices(2))).toMatchObject({ expected: 'one transaction for alice', came: 'two' })
  expect(judged(...alices(2)).explanation).toMatch(
    / 1 time the list of transactions was asked for in between, and it was not in it yet\.$/,
  )
  expect(judged(...alices(2), ...bobs(100, 2)).explanation).toMatch(/ This happened 2 times\.$/)
  expect(judged(...alices(3), ...bobs(100, 2))).toMatchObject({
    outcome: 'failed',
    expected: 'one transaction for bob',
  })
  expect(judged(...alices(3), ...bobs(100, 3))).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringMatching(/perhaps of another worker\.$/),
  })
})

test('one look of its sender is enough, whoever else looks', () => {
  expect(judged(dropped, list(10, [], { connection: 3 }), list(20, [], { connection: 2 }), again).outcome).toBe(
    'failed',
  )
})

test('a transfer that is known says so, with what showed it', () => {
  const found = list(20, ['tx_a'])
  expect(judged(dropped, list(10), found)).toMatchObject({
    explanation:
      "alice's deposit of 1000 minor units was uncertain: its connection was reset after 5 ms. It is in the ledger once, and its client knows.",
    request_ids: [dropped.request_id, found.request_id],
  })
  const bobs = [
    transfer(1, 0, { ...DROPPED, ...carriedOut('tx_b'), external_id: 'bob' }),
    transfer(1, 10, { external_id: 'bob' }),
  ]
  const told = transfer(1, 10)
  expect(judged(dropped, told, ...bobs)).toMatchObject({
    explanation: expect.stringMatching(/ its client knows\. So it was with 1 other\.$/),
    request_ids: [dropped.request_id, told.request_id],
  })
})

describe('passes when', () => {
  test.each([
    ['the transfer was repeated under its key', [dropped, transfer(1, 10, carriedOut('tx_a'))]],
    ['it was looked up, and the same is paid again on purpose', [dropped, list(10), list(20, ['tx_a']), again]],
    [
      'another worker pays the same before the repetition comes',
      [dropped, list(10), again, transfer(1, 90, carriedOut('tx_a'))],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('passed')
  })
})

describe('needs review when', () => {
  test.each([
    ['another finding says what was wrong', [dropped, again]],
    ['the second comes on another connection', [dropped, list(10, [], { connection: 3 }), again]],
    [
      'a request without a key was in flight',
      [transfer(3, 0, { until: 80, amount: '7', idempotency: null }), dropped, list(20, [], { connection: 2 }), again],
    ],
    ['workers overlap', [transfer(3, 0, { until: 80, amount: '7' }), dropped, list(20, [], { connection: 2 }), again]],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('needs_review')
  })
})

test.each([
  ['by answered transfers', [transfer(1, 0, carriedOut('tx_a')), transfer(2, 10, carriedOut('tx_b'))]],
  ['by a drop before anything happened', [transfer(1, 0, DROPPED), list(10, [], { connection: 2 }), again]],
  [
    'by another amount',
    [dropped, list(10, [], { connection: 2 }), transfer(2, 20, { ...carriedOut('tx_b'), amount: '7', connection: 2 })],
  ],
  [
    'by a second that is refused',
    [dropped, list(10, [], { connection: 2 }), transfer(2, 20, { ...answered(422), connection: 2 })],
  ],
  [
    'by another end user',
    [
      dropped,
      list(10, [], { connection: 2 }),
      transfer(2, 20, { ...carriedOut('tx_b'), external_id: 'bob', connection: 2 }),
    ],
  ],
])('is not exercised %s', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('a second that nobody looked for is shown with the first', () => {
  expect(judged(dropped, again)).toMatchObject({
    explanation: expect.stringContaining('Nobody had looked in between'),
    request_ids: [dropped.request_id, again.request_id],
  })
})

test('lists in flight are no sign of another worker', () => {
  const look = list(20, [], { connection: 2 })
  expect(judged(dropped, list(0, [], { until: 60, connection: 4 }), look, again).outcome).toBe('failed')
})
