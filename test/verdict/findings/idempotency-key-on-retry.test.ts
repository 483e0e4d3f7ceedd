import { describe, expect, test } from 'vitest'
import type { LedgerPortfolio, LedgerTransfer } from '../../../src/oracle/facts.ts'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { idempotencyKeyOnRetry } from '../../../src/verdict/findings/idempotency-key-on-retry.ts'
import { evidenceOf } from '../evidence.ts'
import type { ExchangeParts } from '../exchange.ts'
import {
  ABANDONED,
  answered,
  carriedOut,
  DROPPED,
  key,
  ledgerTransfer,
  list,
  portfolio,
  token,
  transfer,
  UNREAD,
} from '../requests.ts'

/** The answer was handed over, and nobody knows whether it was read. */
const NOT_READ = { unread: true }
/** Neither body nor amount is known. */
const NOTHING_READ = { ...UNREAD, transfer: null }
const PORTFOLIO: LedgerPortfolio = {
  tenant: 'acme',
  external_id: 'alice',
  portfolio_id: 'jar_1',
  pool_id: 'pool_1',
  token_symbol: 'USDC',
  token_decimals: 6,
  key: null,
}

const judged = (...exchanges: RecordedExchange[]) => idempotencyKeyOnRetry.judge(evidenceOf(exchanges))

describe('a fresh key', () => {
  test('for a dropped deposit fails, with both requests and keys', () => {
    const first = transfer(1, 0, { ...DROPPED, ...carriedOut('a') })
    const second = transfer(2, 500, carriedOut('b'))
    expect(judged(first, second)).toEqual({
      outcome: 'failed',
      explanation:
        "alice's deposit of 1000 minor units had to be repeated: its connection was reset after 5 ms. It came again 495 ms later, under another Idempotency-Key. Both were carried out: 0xa and 0xb.",
      expected: `Idempotency-Key: ${key(1)}`,
      came: `Idempotency-Key: ${key(2)}`,
      request_ids: [first.request_id, second.request_id],
    })
  })

  test.each([
    ['a withdrawal', transfer(1, 0, { operation: 'withdraw', ...DROPPED }), transfer(2, 9, { operation: 'withdraw' })],
    ['a portfolio', portfolio(1, 0, DROPPED), portfolio(2, 9)],
    ['a deposit that the client gave up', transfer(1, 0, { ...ABANDONED, until: 5000 }), transfer(2, 5001)],
    [
      'a body that another serializer wrote',
      transfer(1, 0, DROPPED),
      transfer(2, 9, { request: { body: '{ "amount_minor":"1000","portfolio_id":"jar_1" }' } }),
    ],
    ['another connection', transfer(1, 0, DROPPED), transfer(2, 9, { connection: 2 })],
  ])('for %s fails', (_what, first, second) => {
    expect(judged(first, second).outcome).toBe('failed')
  })

  test('names both transfers only when there are two', () => {
    const told = (first: ExchangeParts, second: ExchangeParts) =>
      judged(transfer(1, 0, { ...DROPPED, ...first }), transfer(2, 10, second)).explanation.split('Idempotency-Key.')[1]
    expect(told({}, {})).toBe('')
    expect(told(carriedOut('a'), {})).toBe('')
    expect(told({}, carriedOut('b'))).toBe('')
    expect(told(carriedOut('a'), carriedOut('a'))).toBe('')
    expect(told(carriedOut('a'), carriedOut('b'))).toBe(' Both were carried out: 0xa and 0xb.')
  })

  test('is counted two hundred times at most', () => {
    const pairs = Array.from({ length: 205 }, (_, n) => [
      transfer(2 * n, n * 50, DROPPED),
      transfer(2 * n + 1, n * 50 + 20),
    ])
    expect(judged(...pairs.flat()).explanation).toMatch(/ This happened 200 times\.$/)
  })

  test('for each of several attempts is counted', () => {
    const judgement = judged(transfer(1, 0, DROPPED), transfer(2, 10, DROPPED), transfer(3, 20))
    expect(judgement).toMatchObject({ outcome: 'failed', explanation: expect.stringContaining('2 times') })
    expect(judgement.request_ids).toHaveLength(2)
  })

  test('is not known to be a retry when the first body was never read, when workers overlap, or after another start', () => {
    const dropped = transfer(1, 0, { ...DROPPED, until: 100 })
    expect(judged(transfer(1, 0, { ...DROPPED, ...UNREAD }), transfer(2, 9)).outcome).toBe('needs_review')
    expect(judged(dropped, transfer(3, 50, { until: 150 }), transfer(2, 200)).outcome).toBe('needs_review')
    expect(judged(dropped, token(150), transfer(2, 200)).outcome).toBe('needs_review')
  })
})

test('where several workers write for one end user, nobody knows whose the second is', () => {
  const workers = [transfer(8, 0, { until: 50, amount: '7' }), transfer(9, 20, { until: 90, amount: '8' })]
  expect(judged(...workers, transfer(1, 1000, DROPPED), transfer(2, 1010)).outcome).toBe('needs_review')
  const token = (fingerprint: string) => ({ idp_token: { fingerprint, header: null, claims: null } })
  const dropped = transfer(1, 0, { ...DROPPED, request: token('a') })
  expect(judged(dropped, transfer(2, 10, { request: token('b') })).outcome).toBe('needs_review')
  expect(judged(dropped, transfer(2, 10, { request: token('a') })).outcome).toBe('failed')
})

describe('made anew under another key after retries that had no answer', () => {
  const attempts = [0, 10, 20].map((at) => transfer(1, at, { ...DROPPED, ...carriedOut('tx_a') }))
  const anew = transfer(2, 500, carriedOut('tx_b'))
  const both = [ledgerTransfer('tx_a'), ledgerTransfer('tx_b')]
  const judge = (exchanges: RecordedExchange[], transfers: LedgerTransfer[] = both) =>
    idempotencyKeyOnRetry.judge(evidenceOf(exchanges, { transfers }))

  test('fails when both are in the ledger', () => {
    expect(judge([...attempts, anew])).toMatchObject({
      outcome: 'failed',
      explanation:
        "alice's deposit of 1000 minor units was sent 3 times under one Idempotency-Key, and no answer said what became of it. It came again 475 ms later, under another. Both were carried out: 0xtx_a and 0xtx_b.",
      expected: `Idempotency-Key: ${key(1)}`,
      came: `Idempotency-Key: ${key(2)}`,
      request_ids: [attempts[0], attempts[2], anew].map((one) => one?.request_id),
    })
  })

  test('fails for portfolios, whose keys the ledger has', () => {
    const made = (n: number) => ({ ...PORTFOLIO, portfolio_id: `jar_${n}`, key: key(n) })
    const exchanges = [portfolio(1, 0, DROPPED), portfolio(1, 10, DROPPED), portfolio(2, 20)]
    const judgeMade = (...portfolios: LedgerPortfolio[]) =>
      idempotencyKeyOnRetry.judge(evidenceOf(exchanges, { ledger: { transfers: [], under_way: [], portfolios } }))
    expect(judgeMade(made(1), made(2)).outcome).toBe('failed')
    expect(judgeMade(made(2)).outcome).toBe('needs_review')
    expect(judgeMade(made(1), { ...made(2), external_id: 'bob' }).outcome).toBe('needs_review')
  })

  test.each([
    ['the ledger does not have both', [...attempts, anew], [ledgerTransfer('tx_b')]],
    [
      'the body of one of the two requests is not on record',
      [...attempts, transfer(2, 500, { ...carriedOut('tx_b'), ...NOTHING_READ })],
      both,
    ],
    ['the list was asked for in between', [...attempts, list(100), anew], both],
    ['one of the attempts may have been answered', [transfer(1, 0, DROPPED), transfer(1, 10, NOT_READ), anew], both],
    ['a token was fetched in between', [...attempts, token(100), anew], both],
    ['several workers write', [transfer(3, 0, { until: 600, amount: '7' }), ...attempts, anew], both],
  ])('needs review when %s', (why, exchanges, transfers) => {
    expect(judge(exchanges, transfers)).toMatchObject({
      outcome: 'needs_review',
      explanation: expect.stringContaining(`Whether it is a retry cannot be known: ${why}`),
    })
  })

  test.each([
    ['an attempt was answered', [...attempts, transfer(1, 30), anew]],
    ['an attempt was refused', [...attempts, transfer(1, 30, answered(422, 'transaction_reverted')), anew]],
    ['the list showed the first', [...attempts, list(100, ['tx_a']), anew]],
    [
      'it was sent while an attempt was under way',
      [attempts[0]!, transfer(1, 10, { ...DROPPED, ...carriedOut('tx_a'), until: 900 }), anew],
    ],
    [
      'its key had been in use before',
      [attempts[0]!, transfer(2, 3), transfer(1, 10, DROPPED), transfer(2, 500, carriedOut('tx_b'))],
    ],
    ['another amount follows', [...attempts, transfer(2, 500, { ...carriedOut('tx_b', '70'), amount: '70' })]],
  ])('is none, and the rule is kept, when %s', (_what, exchanges) => {
    expect(judge(exchanges).outcome).toBe('passed')
  })

  test('is for single-transfer to judge when the list was asked for after the only attempt', () => {
    expect(judge([attempts[0]!, list(100), anew]).outcome).toBe('not_exercised')
  })

  test('is none when the list shows that nothing had been done', () => {
    const never = [0, 10].map((at) => transfer(1, at, DROPPED))
    expect(judge([...never, list(100), anew], [ledgerTransfer('tx_b')]).outcome).toBe('passed')
  })
})

test('what began before the record is known, and not judged', () => {
  const old = transfer(2, 0, DROPPED)
  const exchanges = [transfer(1, 10, DROPPED), transfer(2, 20)]
  expect(idempotencyKeyOnRetry.judge(evidenceOf(exchanges)).outcome).toBe('failed')
  expect(idempotencyKeyOnRetry.judge(evidenceOf(exchanges, { kept: [old] })).outcome).toBe('not_exercised')
})

describe('the same key', () => {
  test('passes, also when the answer was cut short in the middle', () => {
    const cut = transfer(1, 0, {
      faults: [{ id: 'flt_1', kind: 'malformed_body', phase: 'during_response', explanation: '' }],
    })
    expect(judged(cut, transfer(1, 10)).outcome).toBe('passed')
    const [dropped, again] = [transfer(1, 0, DROPPED), transfer(1, 10)]
    expect(judged(dropped, again)).toEqual({
      outcome: 'passed',
      explanation:
        "alice's deposit of 1000 minor units had to be repeated: its connection was reset after 5 ms. It came again 5 ms later, under the same Idempotency-Key.",
      request_ids: [dropped.request_id, again.request_id],
    })
  })

  test('passes, whatever other workers did before it came', () => {
    const exchanges = [transfer(1, 0, DROPPED), transfer(2, 6), transfer(3, 12), transfer(1, 20)]
    expect(judged(...exchanges).outcome).toBe('passed')
  })

  test('passes in other letters', () => {
    const upper = { idempotency: { key: key(1).toUpperCase(), use: 'replayed' as const } }
    expect(judged(transfer(1, 0, DROPPED), transfer(1, 10, upper)).outcome).toBe('passed')
  })
})

describe('is not exercised', () => {
  test.each([
    ['by answered transfers', [transfer(1, 0), transfer(2, 10)]],
    ['when nothing followed', [transfer(1, 0, DROPPED)]],
    ['when the outcome was looked up first', [transfer(1, 0, DROPPED), list(10), transfer(2, 20)]],
    ['by another end user', [transfer(1, 0, DROPPED), transfer(2, 10, { external_id: 'bob' })]],
    ['by another amount', [transfer(1, 0, DROPPED), transfer(2, 10, { amount: '2000' })]],
    ['by the other operation', [transfer(1, 0, DROPPED), transfer(2, 10, { operation: 'withdraw' })]],
    ['by what was sent before the drop', [transfer(1, 0, { ...DROPPED, until: 100 }), transfer(2, 50, { until: 60 })]],
    ['by what a reset cut off', [transfer(1, 0, { end: 'cut_off', response: null }), transfer(2, 10)]],
    ['by an error answer', [transfer(1, 0, answered(503)), transfer(2, 10)]],
    ['by a key that was in use before', [transfer(2, 0), transfer(1, 10, DROPPED), transfer(2, 20)]],
    [
      'by a repetition of what has been forgotten',
      [transfer(1, 0, DROPPED), transfer(2, 9, { idempotency: { key: key(2), use: 'replayed' } })],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('not_exercised')
  })
})

test('a suite of eight workers that deposit the same for their own end users passes', () => {
  const exchanges = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => {
    const external_id = `user-${n}`
    return [
      transfer(n, n, { external_id, ...DROPPED }),
      transfer(n, 100 + n, { external_id }),
      transfer(n + 8, 200, { external_id }),
    ]
  })
  const inOrder = exchanges.sort((a, b) => a.began.wall.localeCompare(b.began.wall))
  expect(judged(...inOrder)).toMatchObject({ outcome: 'passed', explanation: expect.stringContaining('7 others') })
})
