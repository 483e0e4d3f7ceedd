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

const late = (at: number, connection = 1) => poolsWith('T1', { at, connection })

test('requests one after the other in the last minute fail, and say how much was left', () => {
  const [first, second] = [late(12_005), late(12_100)]
  expect(judged(...begun(), first, second)).toMatchObject({
    outcome: 'failed',
    came: 'a request with 50.0 s left',
    request_ids: [expect.anything(), first.request_id],
  })
})

test('requests after the expiry fail, from a connection each as well', () => {
  expect(judged(...begun(), late(65_005, 2), late(65_105, 3))).toMatchObject({
    outcome: 'failed',
    came: 'a request 3.0 s after it had expired',
  })
})

test('one late request may have been long on its way, and several of several processes', () => {
  expect(judged(...begun(), late(12_005)).outcome).toBe('needs_review')
  expect(judged(...begun(), late(65_005)).outcome).toBe('needs_review')
  expect(judged(...begun(), late(5005), late(5100, 2), late(5200, 3)).outcome).toBe('needs_review')
})

test('whoever renews other tokens in time passes, with one request that was long on its way', () => {
  const next = [fetchOf('T2', { at: 13_000, expires_in: 62 }), ...[13_100, 13_200].map((at) => poolsWith('T2', { at }))]
  const renewed = [fetchOf('T3', { at: 15_100 }), poolsWith('T3', { at: 15_200 })]
  expect(judged(...begun(), late(12_005), ...next, ...renewed).outcome).toBe('passed')
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
    fetchOf(`T${i}`, { at: i * 3000, expires_in: 62 }),
    poolsWith(`T${i}`, { at: i * 3000 + 100 }),
  ])
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('a token used once counts for whoever keeps others', () => {
  const kept = [fetchOf('T1', { expires_in: 62 }), poolsWith('T1', { at: 100 }), poolsWith('T1', { at: 700 })]
  const [old, use] = [fetchOf('T2', { expires_in: 62, at: 900 }), poolsWith('T2', { at: 950 })]
  const [next, last] = [fetchOf('T3', { expires_in: 62, at: 4000 }), poolsWith('T3', { at: 4100 })]
  expect(judged(...kept, old, use, next, last)).toMatchObject({
    outcome: 'passed',
    request_ids: [use.request_id, next.request_id],
  })
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

test('an answer to a token request that has none renews nothing', () => {
  const empty = { ...fetchOf('T2', { at: 2100 }), response: null }
  expect(judged(...begun(), empty, poolsWith('T1', { at: 2150 })).outcome).toBe('not_exercised')
})

test('another token that the provider never gave out renews nothing', () => {
  expect(judged(...begun(), poolsWith('T9', { at: 2100 })).outcome).toBe('not_exercised')
})

test('a token that was found late is not renewed in time, whatever comes after it', () => {
  const next = [fetchOf('T2', { at: 13_000, expires_in: 3600 }), poolsWith('T2', { at: 13_100 })]
  expect(judged(...begun(), late(12_005), ...next).outcome).toBe('needs_review')
})

test('a token that nobody used is not renewed', () => {
  const unused = fetchOf('T0', { expires_in: 62 })
  expect(
    judged(unused, fetchOf('T1', { at: 2100 }), ...[2200, 2300].map((at) => poolsWith('T1', { at }))).outcome,
  ).toBe('not_exercised')
})

test('another token is a renewal from 61 seconds before the end on', () => {
  const used = [fetchOf('T1', { expires_in: 62 }), ...[100, 700].map((at) => poolsWith('T1', { at }))]
  const renewedAt = (at: number) => judged(...used, fetchOf('T2', { at })).outcome
  // It expires 62 s after its answer, which was out at 5 ms.
  expect([renewedAt(1005), renewedAt(1004)]).toEqual(['passed', 'not_exercised'])
})

test('the token of another tenant renews nothing', () => {
  const other = fetchOf('T2', { at: 2100, tenant: 'globex' })
  expect(judged(...begun(), other).outcome).toBe('not_exercised')
})

test('a token that lived a minute once is not judged', () => {
  const short = [fetchOf('T', { expires_in: 60 }), poolsWith('T', { at: 30_000 }), poolsWith('T', { at: 30_100 })]
  expect(judged(...short).outcome).toBe('not_exercised')
  expect(judged(fetchOf('T', { expires_in: 3600 }), ...short).outcome).toBe('not_exercised')
})

test('a late request under a key of its own counts', () => {
  const uses = ['a', 'b'].map((key, n) => depositWith({ idp: 'T1' }, key, { at: 12_005 + n * 100 }))
  expect(judged(...begun(), ...uses)).toMatchObject({
    outcome: 'failed',
    explanation: '2 requests sent an access token that had less than 60 s to live: a request with 50.0 s left.',
  })
})

test('a request that begins when another late one of its connection ends follows it', () => {
  expect(judged(...begun(), late(12_005), late(12_010)).outcome).toBe('failed')
  expect(judged(...begun(), late(12_005), late(12_009)).outcome).toBe('needs_review')
})

test('a request is late from two seconds on, and much too late from twenty', () => {
  const outcomes = [4005, 4006].map((at) => judged(...begun(), late(at)).outcome)
  expect(outcomes).toEqual(['not_exercised', 'needs_review'])
  const twice = [22_005, 22_006].map((at) => judged(...begun(), late(at, 2), late(at, 3)).outcome)
  expect(twice).toEqual(['needs_review', 'failed'])
})

test('a request at the very moment of its expiry has expired', () => {
  expect(judged(...begun(), late(62_005)).explanation).toContain('a request 0 ms after it had expired')
})
