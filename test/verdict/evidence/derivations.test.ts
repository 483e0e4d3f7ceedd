import { expect, test } from 'vitest'
import { endedAt, refusedWith, struckBy, succeeded } from '../../../src/verdict/evidence/answers.ts'
import { cursorsIn, issuesOf, listName, sentCursors } from '../../../src/verdict/evidence/cursors.ts'
import { isHabit, rivalry, sameSender, tokenBetween } from '../../../src/verdict/evidence/doubts.ts'
import { isCarriedOut, type Step, timelinesOf } from '../../../src/verdict/evidence/timelines.ts'
import { idpTokenOf, idpTokens, isFetch, userTokens } from '../../../src/verdict/evidence/tokens.ts'
import { endingOf, plural, requestInWords, spell } from '../../../src/verdict/evidence/words.ts'
import { evidenceOf } from '../evidence.ts'
import { exchange } from '../exchange.ts'
import { page } from '../lists.ts'
import {
  ABANDONED,
  answered,
  carriedOut,
  DROPPED,
  ledgerTransfer,
  portfolio,
  STRUCK,
  token,
  transfer,
} from '../requests.ts'
import { depositWith, fetchOf, poolsWith, shownToken, struck } from '../token-traffic.ts'

const stepsOf = (...exchanges: Parameters<typeof evidenceOf>[0]) =>
  timelinesOf(evidenceOf(exchanges))[0]!.steps as [Step, Step, Step]

test.each([
  [0, 0, false],
  [9, 0, false],
  [0, 1, true],
  [1, 1, false],
  [1, 2, true],
  [2, 2, false],
  [2, 3, true],
])('of %d right and %d wrong, being wrong is a habit: %s', (right, wrong, habit) => {
  expect(isHabit(right, wrong)).toBe(habit)
})

test('an answer counts when it was handed over', () => {
  expect([succeeded(exchange()), succeeded(exchange(answered(404))), succeeded(exchange(DROPPED))]).toEqual([
    true,
    false,
    false,
  ])
  expect([succeeded(exchange(answered(300))), succeeded(exchange({ response: null }))]).toEqual([false, false])
  const refused = answered(410, 'cursor_expired')
  expect(refusedWith(exchange({ response: null }), 'cursor_expired')).toBe(false)
  expect(refusedWith(exchange(refused), 'cursor_expired')).toBe(true)
  expect(refusedWith(exchange({ ...refused, end: 'dropped' }), 'cursor_expired')).toBe(false)
  expect([struckBy(exchange(STRUCK), 'error', 'hang'), struckBy(exchange(STRUCK), 'hang')]).toEqual([true, false])
})

test('the ledger has a transfer by its id or hash, and a portfolio by its key', () => {
  const [first, second] = stepsOf(transfer(1, 0, carriedOut('tx_a')), transfer(2, 10))
  const evidence = evidenceOf([], { transfers: [ledgerTransfer('tx_a')] })
  expect([isCarriedOut([first], evidence), isCarriedOut([second], evidence)]).toEqual([true, false])
  expect(isCarriedOut([second, first], evidence)).toBe(true)
  expect(isCarriedOut(stepsOf(portfolio(1, 0)), evidence)).toBe(false)
  const unmined = evidenceOf([], { transfers: [ledgerTransfer('tx_a', { tx_hash: '0xanother' })] })
  expect(isCarriedOut([first], unmined)).toBe(true)
})

test('a portfolio that was made without a key is not the one of a request without a key', () => {
  const made = { tenant: 'acme', external_id: 'alice', portfolio_id: 'jar_1', pool_id: 'p', key: null }
  const portfolios = [{ ...made, token_symbol: 'USDC', token_decimals: 6 }]
  const evidence = evidenceOf([], { ledger: { transfers: [], under_way: [], portfolios } })
  expect(isCarriedOut(stepsOf(portfolio(1, 0, { idempotency: null })), evidence)).toBe(false)
})

test('another worker may have sent the second when other requests were in flight, of a kind that counts', () => {
  const exchanges = [transfer(1, 0, { until: 50 }), page({ at: 20, until: 90 }), transfer(2, 100)]
  const timeline = timelinesOf(evidenceOf(exchanges))[0]!
  const [write, , next] = timeline.steps as [Step, Step, Step]
  expect(rivalry({ write, next }, timeline, () => true)).toMatch(/in flight/)
  expect(rivalry({ write, next }, timeline, () => false)).toBeNull()
})

test('the two requests themselves are no rivals of each other', () => {
  const timeline = timelinesOf(evidenceOf([transfer(1, 0, { until: 50 }), transfer(1, 20, { until: 90 })]))[0]!
  const [write, next] = timeline.steps as [Step, Step]
  expect(rivalry({ write, next }, timeline, () => true)).toBeNull()
})

test('an access token that only one of the two requests has says nothing of another worker', () => {
  const sent = { request: { idp_token: shownToken('I') } }
  const between = (first: object, second: object) => {
    const [write, next] = stepsOf(transfer(1, 0, first), transfer(2, 10, second))
    return tokenBetween({ write, next }, evidenceOf([]))
  }
  expect([between(sent, {}), between({}, sent)]).toEqual([null, null])
})

test('a token of an unknown tenant counts, from the end of the first request to the beginning of the second', () => {
  const [write, next] = stepsOf(transfer(1, 0, { until: 10 }), transfer(2, 20))
  const fetchedAt = (at: number) => tokenBetween({ write, next }, evidenceOf([token(at, { tenant: null })])) !== null
  expect([9, 10, 20, 21].map(fetchedAt)).toEqual([false, true, true, false])
})

test('another run may have sent the second when a token of that tenant was fetched in between', () => {
  const [write, next] = stepsOf(transfer(1, 0), transfer(2, 100))
  const between = (...exchanges: Parameters<typeof evidenceOf>[0]) =>
    tokenBetween({ write, next }, evidenceOf(exchanges))
  expect(between(token(50))).toMatch(/fetched in between/)
  expect(between(token(0), token(101), token(50, { tenant: 'globex' }))).toBeNull()
})

test('one sender has one connection, or the same two tokens', () => {
  const tokens = (idp: string, user: string) => ({
    request: { idp_token: shownToken(idp), user_token: shownToken(user) },
  })
  const sent = (parts: object) => transfer(1, 0, { connection: 2, ...parts })
  const same = (parts: object) =>
    sameSender(...(stepsOf(transfer(1, 0, tokens('I', 'U')), sent(parts)).slice(0, 2) as [Step, Step]))
  expect([
    same({ connection: 1 }),
    same(tokens('I', 'U')),
    same(tokens('I', 'V')),
    same(tokens('J', 'U')),
    same({}),
  ]).toEqual([true, true, false, false, false])
})

test('a cursor is known by every answer that gave it out before', () => {
  const [first, second, third] = evidenceOf([
    page({ next: 'A' }),
    page({ after: 'A', prev: 'B' }),
    page({ before: 'B', after: '' }),
  ]).exchanges as [ReturnType<typeof page>, ReturnType<typeof page>, ReturnType<typeof page>]
  expect(issuesOf(first).map(({ cursor, direction }) => [cursor, direction])).toEqual([['A', 'next']])
  expect(cursorsIn(third)).toEqual([{ direction: 'prev', cursor: 'B' }])
  expect(sentCursors([first, second, third]).map(({ cursor, issues }) => [cursor, issues[0]?.by])).toEqual([
    ['A', first],
    ['B', second],
  ])
  expect(sentCursors([second])[0]?.issues).toEqual([])
  expect(listName(first)).toBe('list_transactions of alice')
  expect([listName(undefined), listName(poolsWith('T'))]).toEqual(['another list', 'list_pools'])
})

test('only lists give out cursors and take them', () => {
  const deposit = exchange({ ...page({ after: 'A', next: 'B' }), operation: 'deposit' })
  expect([issuesOf(deposit), sentCursors([deposit])]).toEqual([[], []])
  expect(issuesOf({ ...page({ next: 'B' }), response: null })).toEqual([])
})

test('a cursor that is given out for ever is known by its first sixteen answers', () => {
  const pages = Array.from({ length: 20 }, () => page({ next: 'A' }))
  expect(sentCursors([...pages, page({ after: 'A' })])[0]?.issues).toHaveLength(16)
})

test('an access token has its fetches, its uses and its expiry; a spoiled one is marked', () => {
  const exchanges = [fetchOf('T', { at: 0, until: 10 }), poolsWith('T', { at: 20 }), poolsWith('U', { at: 30 })]
  const tokens = idpTokens(exchanges)
  expect([...tokens.keys()]).toEqual(['T'])
  expect(tokens.get('T')).toMatchObject({ expiresAt: 3_600_010, spoiled: false, uses: [exchanges[1]] })
  expect(idpTokens([fetchOf('T', struck('token_expired'))]).get('T')?.spoiled).toBe(true)
})

test('a token request without a token is no fetch, and nor is an answer to another request', () => {
  const empty = token(0)
  const cut = { ...token(0), response: null }
  expect([fetchOf('T'), poolsWith('T'), empty, cut].map(isFetch)).toEqual([true, false, false, false])
  expect([fetchOf('T'), poolsWith('T'), empty, cut, exchange()].map(idpTokenOf)).toEqual(['T', 'T', ...Array(3)])
})

test('a request that is still open ends never', () => {
  expect([endedAt(exchange({ until: 7 })), endedAt(exchange({ ended: null }))]).toEqual([7, Number.POSITIVE_INFINITY])
})

test('a user token counts once, and what is no JWT not at all', () => {
  const garbage = shownToken('G', { header: null })
  const exchanges = [
    depositWith({ user: 'U' }, 'a'),
    depositWith({ user: 'U' }, 'b'),
    depositWith({ user: garbage }, 'c'),
    exchange(),
  ]
  expect(userTokens(exchanges).map(({ fingerprint, exchange: by }) => [fingerprint, by])).toEqual([['U', exchanges[0]]])
})

test('words', () => {
  expect([plural(1, 'time'), plural(2, 'time'), spell(999.4), spell(1000), spell(45_000)]).toEqual([
    '1 time',
    '2 times',
    '999 ms',
    '1.0 s',
    '45.0 s',
  ])
  expect(requestInWords(transfer(1, 0, { operation: 'withdraw', amount: '7' }))).toBe(
    "alice's withdrawal of 7 minor units",
  )
  expect(requestInWords(exchange({ operation: 'list_pools', external_id: null }))).toBe('a list of pools')
  const after = { until: 2000 }
  expect(
    [
      DROPPED,
      { ...DROPPED, dropped: 'truncated' as const },
      ABANDONED,
      answered(503),
      answered(401, 'x'),
      answered(200),
      answered(300),
      { response: null },
    ].map((parts) => endingOf(exchange({ ...parts, ...after }))),
  ).toEqual([
    'its connection was reset after 2.0 s',
    'its answer was cut short after 2.0 s',
    'the client left after 2.0 s',
    'it was answered 503',
    'it was answered 401 x',
    'its answer could not be read',
    'it was answered 300',
    'it had no answer',
  ])
})
