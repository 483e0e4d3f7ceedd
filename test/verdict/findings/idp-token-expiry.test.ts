import { expect, test } from 'vitest'
import { idpTokenExpiry } from '../../../src/verdict/findings/idp-token-expiry.ts'
import { evidenceOf } from '../evidence.ts'
import { depositWith, fetchOf, poolsWith, struck } from '../token-traffic.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => idpTokenExpiry.judge(evidenceOf(exchanges))

/** Fetched at 0 and used twice in time: its last minute begins after two seconds. */
const begun = () => [fetchOf('T1', { expires_in: 62 }), poolsWith('T1', { at: 100 }), poolsWith('T1', { at: 1500 })]

test('a token that stays young exercises nothing', () => {
  expect(judged(fetchOf('T'), poolsWith('T', { at: 10 }), poolsWith('T', { at: 20 })).outcome).toBe('not_exercised')
  expect(judged(...begun()).outcome).toBe('not_exercised')
})

test('another token in the last minute passes', () => {
  const [fetch, use] = [fetchOf('T2', { expires_in: 62, at: 2100 }), poolsWith('T2', { at: 2200 })]
  expect(judged(...begun(), fetch, use)).toMatchObject({
    outcome: 'passed',
    request_ids: [expect.anything(), fetch.request_id],
  })
})

test('a request in the last minute fails, and says how much was left', () => {
  const late = poolsWith('T1', { at: 12_005 })
  expect(judged(...begun(), late)).toMatchObject({
    outcome: 'failed',
    came: 'a request with 50.0 s left',
    request_ids: [expect.anything(), late.request_id],
  })
})

test('a request after the expiry fails', () => {
  expect(judged(...begun(), poolsWith('T1', { at: 65_005 }))).toMatchObject({
    came: 'a request 3.0 s after it had expired',
  })
})

test('a request that was a moment on its way does not fail', () => {
  expect(judged(...begun(), poolsWith('T1', { at: 3500 })).outcome).toBe('not_exercised')
})

test('the retry of a dropped request with all of its headers does not fail', () => {
  const dropped = depositWith({ idp: 'T1' }, 'key', { at: 1600, end: 'dropped', dropped: 'reset' })
  expect(judged(...begun(), dropped, depositWith({ idp: 'T1' }, 'key', { at: 20_000 })).outcome).toBe('not_exercised')
})

test('a token that the provider spoiled, or that lives less than a minute, is not judged', () => {
  expect(
    judged(fetchOf('T', { expires_in: 62, ...struck('token_expired') }), poolsWith('T', { at: 30_000 })).outcome,
  ).toBe('not_exercised')
  expect(judged(fetchOf('T', { expires_in: 30 }), poolsWith('T', { at: 100 })).outcome).toBe('not_exercised')
})

test('whoever fetches for each request shows nothing', () => {
  const exchanges = [0, 1, 2].flatMap((i) => [
    fetchOf(`T${i}`, { at: i * 500, expires_in: 62 }),
    poolsWith(`T${i}`, { at: i * 500 + 100 }),
  ])
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('eight workers with tokens of their own pass', () => {
  const workers = Array.from({ length: 8 }, (_, i) => i)
  expect(
    judged(
      ...workers.map((i) => fetchOf(`A${i}`, { at: i, connection: i, expires_in: 62 })),
      ...[200, 900].flatMap((at) => workers.map((i) => poolsWith(`A${i}`, { at: at + i, connection: i }))),
      ...workers.map((i) => fetchOf(`B${i}`, { at: 2200 + i, connection: i, expires_in: 62 })),
      ...workers.map((i) => poolsWith(`B${i}`, { at: 2300 + i, connection: i })),
    ).outcome,
  ).toBe('passed')
})
