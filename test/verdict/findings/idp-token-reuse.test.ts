import { describe, expect, test } from 'vitest'
import { idpTokenReuse } from '../../../src/verdict/findings/idp-token-reuse.ts'
import { evidenceOf } from '../evidence.ts'
import { depositWith, fetchOf, idpRefused, poolsWith, struck } from '../token-traffic.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) => idpTokenReuse.judge(evidenceOf(exchanges, rest))

/** A token for each of so many requests; `connection` says on which. */
const perRequest = (count: number, connection = (_: number) => 1) =>
  Array.from({ length: count }, (_, i) => [
    fetchOf(`T${i}`, { at: i * 100, connection: connection(i) }),
    poolsWith(`T${i}`, { at: i * 100 + 50, connection: connection(i) }),
  ]).flat()

test('one request exercises nothing', () => {
  expect(judged([fetchOf('T'), poolsWith('T')]).outcome).toBe('not_exercised')
})

test('one token for several requests passes, on one connection or many', () => {
  const uses = [1, 2, 3].map((i) => poolsWith('T', { at: i * 10, connection: i }))
  expect(judged([fetchOf('T'), ...uses])).toMatchObject({ outcome: 'passed', request_ids: { length: 3 } })
})

test('a token per request of one process fails', () => {
  expect(judged(perRequest(5))).toMatchObject({ outcome: 'failed', came: '5 tokens for 5 requests' })
})

test('so it does when the tokens of a second are equal', () => {
  const exchanges = [0, 1, 2].flatMap((i) => [fetchOf('T', { at: i * 10 }), poolsWith('T', { at: i * 10 + 6 })])
  expect(judged(exchanges).outcome).toBe('failed')
})

test('twelve workers that fetch twelve tokens pass when each uses its own', () => {
  const workers = Array.from({ length: 12 }, (_, i) => ({ token: `T${i}`, connection: i + 1 }))
  const exchanges = [
    ...workers.map(({ token, connection }) => fetchOf(token, { connection })),
    ...[1, 2, 3].flatMap((round) =>
      workers.map(({ token, connection }) => poolsWith(token, { connection, at: round * 10 })),
    ),
  ]
  expect(judged(exchanges).outcome).toBe('passed')
})

test('a token per request on connections of their own may be as many processes', () => {
  expect(judged(perRequest(5, (i) => i)).outcome).toBe('needs_review')
})

test('a suite that makes a client per test needs review', () => {
  const clients = [0, 1, 2].flatMap((i) => [
    fetchOf(`T${i}`, { at: i * 100 }),
    ...[1, 2, 3].map((j) => poolsWith(`T${i}`, { at: i * 100 + j * 10 })),
  ])
  expect(judged(clients).outcome).toBe('needs_review')
})

test('another token after a refusal, or after an hour, is no waste', () => {
  const hour = 3_600_000
  const exchanges = [
    fetchOf('T1'),
    poolsWith('T1', { at: 10 }),
    poolsWith('T1', { at: 20, ...idpRefused }),
    fetchOf('T2', { at: 30 }),
    poolsWith('T2', { at: 40 }),
    poolsWith('T2', { at: 50 }),
    fetchOf('T3', { at: hour - 50_000 }),
    poolsWith('T3', { at: hour - 40_000 }),
  ]
  expect(judged(exchanges).outcome).toBe('passed')
})

test('two fetches at the same time know nothing of each other', () => {
  const exchanges = [fetchOf('T1', { at: 0, until: 50 }), fetchOf('T2', { at: 1, until: 50 })]
  expect(judged([...exchanges, ...[1, 2, 3, 4].map((i) => poolsWith('T2', { at: 50 + i * 10 }))]).outcome).toBe(
    'passed',
  )
})

test('a token that never arrived is not had', () => {
  const lost = fetchOf('T1', { end: 'dropped', dropped: 'reset' })
  expect(
    judged([lost, fetchOf('T2', { at: 10 }), poolsWith('T2', { at: 20 }), poolsWith('T2', { at: 30 })]).outcome,
  ).toBe('passed')
})

test('repetitions of one request do not make it many', () => {
  const again = [1, 2, 3].map((i) => depositWith({ idp: 'T' }, 'key', { at: i * 10 }))
  expect(judged([fetchOf('T'), ...again]).outcome).toBe('not_exercised')
})

test('without a token, or with one that did not arrive, there is nothing to judge', () => {
  expect(judged([poolsWith('T'), poolsWith('T')]).outcome).toBe('not_exercised')
  expect(judged([fetchOf('T', { end: 'dropped' }), poolsWith('T'), poolsWith('T')]).outcome).toBe('not_exercised')
})

test('a token for four requests of five is one per request; for three of four it is not', () => {
  const needless = (tokens: number, requests: number) =>
    judged([
      ...perRequest(tokens),
      ...Array.from({ length: requests - tokens }, (_, n) => poolsWith('T0', { at: 5000 + n * 10 })),
    ]).outcome
  expect([needless(4, 5), needless(3, 4)]).toEqual(['failed', 'needs_review'])
})

test('what is judged is shown: the first two that were needless, or the token and its first uses', () => {
  const exchanges = perRequest(5)
  const fetches = exchanges.filter(({ operation }) => operation === 'token')
  expect(judged(exchanges).request_ids).toEqual(fetches.slice(1, 3).map(({ request_id }) => request_id))
  const apart = perRequest(5, (i) => i)
  expect(judged(apart).request_ids).toEqual([apart[0], apart[2]].map((one) => one?.request_id))
  const twice = [
    fetchOf('T'),
    fetchOf('T', { connection: 2 }),
    ...[1, 2, 3, 4].map((n) => poolsWith('T', { at: n * 10 })),
  ]
  expect(judged(twice)).toMatchObject({
    outcome: 'passed',
    request_ids: [twice[0], twice[2], twice[3]].map((one) => one?.request_id),
  })
})

test('the token that served most shows what is right', () => {
  const uses = [10, 20, 30, 40, 50].map((at) => poolsWith('T1', { at, connection: 2 }))
  const [fetched, ...others] = [fetchOf('T1', { connection: 2 }), fetchOf('T0'), poolsWith('T0', { at: 5 })]
  expect(judged([...others, fetched, ...uses]).request_ids).toEqual(
    [fetched, uses[0], uses[1]].map((one) => one?.request_id),
  )
})

test('one needless token is no habit, and three of a suite show two', () => {
  const one = [fetchOf('T0'), poolsWith('T0', { at: 10 }), fetchOf('T1', { at: 20 }), poolsWith('T1', { at: 30 })]
  expect(judged(one).outcome).toBe('needs_review')
  const clients = [0, 1, 2, 3].flatMap((i) => [
    fetchOf(`T${i}`, { at: i * 100 }),
    ...[1, 2, 3].map((j) => poolsWith(`T${i}`, { at: i * 100 + j * 10 })),
  ])
  expect(judged(clients).request_ids).toHaveLength(2)
})

test('tokens of which each served one request, on a connection each, are of processes of their own', () => {
  const other = poolsWith('T0', { at: 900, connection: 0 })
  expect(judged([...perRequest(5, (i) => i), other]).outcome).toBe('needs_review')
})

describe('another token is no waste', () => {
  const uses = (token: string, at: number) => [0, 1, 2, 3].map((n) => poolsWith(token, { at: at + n * 10 }))
  const cases: [string, ReturnType<typeof poolsWith>[]][] = [
    [
      'at the moment of a refusal',
      [fetchOf('T1'), poolsWith('T1', { at: 20, ...idpRefused }), fetchOf('T2', { at: 25 }), ...uses('T2', 40)],
    ],
    [
      'when the one before was spoiled',
      [fetchOf('T1', struck('bad_signature')), fetchOf('T2', { at: 20 }), ...uses('T2', 40)],
    ],
    [
      'when the one before has 70 seconds left',
      [fetchOf('T1', { expires_in: 80 }), fetchOf('T2', { at: 10_005 }), ...uses('T2', 10_020)],
    ],
    [
      'when an equal one never arrived',
      [fetchOf('T1', { end: 'dropped' }), fetchOf('T1', { at: 10 }), ...uses('T1', 20)],
    ],
    ['when the one before came from elsewhere', [poolsWith('T0'), fetchOf('T1', { at: 10 }), ...uses('T1', 20)]],
    ['when nothing says so', [fetchOf('T1'), { ...poolsWith('T1', { at: 10 }), response: null }, ...uses('T1', 20)]],
  ]
  test.each(cases)('%s', (_what, exchanges) => {
    expect(judged(exchanges).outcome).toBe('passed')
  })

  test('but it is one at the moment at which the one before arrived', () => {
    expect(judged([fetchOf('T1'), fetchOf('T2', { at: 5 }), ...uses('T2', 20)]).outcome).toBe('needs_review')
  })
})
