import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { type RenewalQuestion, renewals } from '../../../src/verdict/evidence/renewals.ts'
import { idpTokenOf } from '../../../src/verdict/evidence/tokens.ts'
import { evidenceOf } from '../evidence.ts'
import { customer } from '../requests.ts'
import { depositWith, idpRefused, poolsWith, shownToken } from '../token-traffic.ts'

const QUESTION: RenewalQuestion = {
  code: 'invalid_idp_token',
  counts: () => true,
  isFresh: (refused, next) => idpTokenOf(refused) !== idpTokenOf(next),
}
const deeds = (...exchanges: RecordedExchange[]) =>
  renewals(evidenceOf(exchanges).exchanges, QUESTION).map(({ did }) => did)
const refused = (idp: string, at: number, key = 'key') => depositWith({ idp }, key, { at, ...idpRefused })

test.each([
  ['nothing', [refused('T1', 0)], ['nothing']],
  ['another token', [refused('T1', 0), depositWith({ idp: 'T2' }, 'key', { at: 10 })], ['renewed']],
  ['the same token', [refused('T1', 0), depositWith({ idp: 'T1' }, 'key', { at: 10 })], ['same_token']],
  ['one renewal, refused as well, counts once', [refused('T1', 0), refused('T2', 10)], ['renewed']],
  ['renewal after renewal', [refused('T1', 0), refused('T2', 10), refused('T3', 20)], ['loop']],
  ['a queue that comes back later', [refused('T1', 0), refused('T2', 10), refused('T2', 60_000)], ['renewed']],
  ['two operations', [refused('T1', 0, 'a'), refused('T1', 10, 'b')].map(other), ['nothing', 'nothing']],
])('%s', (_what, exchanges, expected) => {
  expect(deeds(...exchanges)).toEqual(expected)
})

/** Of an amount of its own. */
function other(one: RecordedExchange, place: number): RecordedExchange {
  return { ...one, request: { ...one.request, body: `{"amount_minor":"${place}"}` } }
}

test('tests that each give up after one renewal are no loop for certain', () => {
  const lists = Array.from({ length: 8 }, (_, n) => poolsWith(`T${Math.ceil(n / 2)}`, { at: n * 10, ...idpRefused }))
  expect(deeds(...lists)).not.toContain('loop')
  expect(deeds(...lists)[0]).toBe('unclear')
})

test('requests for tokens, and requests that are no operation, are left out', () => {
  const others = [null, 'token' as const].map((operation) => poolsWith('T', { operation, ...idpRefused }))
  expect(deeds(...others)).toEqual([])
})

test('a hundred refusals are looked at, no more', () => {
  const refusals = Array.from({ length: 120 }, (_, n) => refused('T', n, `key-${n}`)).map(other)
  expect(deeds(...refusals)).toHaveLength(100)
})

describe('of several that look like it, the repetition is', () => {
  const renewal = (...exchanges: RecordedExchange[]) => {
    const { exchanges: numbered } = evidenceOf(exchanges)
    const [first] = renewals(numbered, QUESTION)
    return [first?.did, ...(first?.shown ?? []).map(({ number }) => number)]
  }
  const first = refused('T1', 10)
  const keyless = poolsWith('T1', { at: 10, ...idpRefused })
  const pools = (idp: string, at: number, connection = 1) => poolsWith(idp, { at, connection })

  test.each([
    [
      'the one under its key',
      [first, depositWith({ idp: 'T3' }, 'other', { at: 20 }), depositWith({ idp: 'T2' }, 'key', { at: 30 })],
      3,
    ],
    ['else the one on its connection', [keyless, pools('T3', 20, 2), pools('T2', 30)], 3],
    ['else the first', [keyless, pools('T2', 20, 2), pools('T3', 30, 3)], 2],
    ['else one without a key', [first, { ...depositWith({ idp: 'T2' }, 'key', { at: 20 }), idempotency: null }], 2],
    ['not one that was on its way', [keyless, pools('T3', 14), pools('T2', 15)], 3],
    ['not itself', [{ ...keyless, ended: keyless.began }, pools('T2', 10)], 2],
  ])('%s', (_what, exchanges, number) => {
    expect(renewal(...exchanges)).toEqual(['renewed', 1, number])
  })

  test('a later one with a fresh token, when the first came from elsewhere with the old one', () => {
    expect(renewal(keyless, pools('T1', 20, 2), pools('T2', 30, 2))).toEqual(['renewed', 1, 3])
    expect(renewal(keyless, pools('T1', 20, 2), pools('T2', 10_014, 2))).toEqual(['renewed', 1, 3])
    expect(renewal(keyless, pools('T1', 20, 2), pools('T2', 10_015, 2))).toEqual(['same_token', 1, 2])
  })

  test('not another request that is still under way with a fresh token when the first is refused', () => {
    expect(renewal(keyless, pools('T2', 12, 2), pools('T1', 30, 2))).toEqual(['same_token', 1, 3])
  })
})

test('the third refusal under one key makes a loop if it comes within ten seconds, whatever comes in between', () => {
  const third = (at: number) => deeds(refused('T1', 0), refused('T2', 10), refused('T3', at))
  expect(third(10_004)).toEqual(['loop'])
  expect(third(10_005)).toEqual(['renewed'])
  expect(deeds(refused('T1', 0), refused('T2', 10, 'b'), refused('T3', 20, 'c'))).toEqual(['renewed'])
})

test('what happened is shown by the fewest requests, three at most', () => {
  const shown = (...exchanges: RecordedExchange[]) => renewals(evidenceOf(exchanges).exchanges, QUESTION)[0]?.shown
  const loop = [1, 2, 3, 4].map((n) => refused(`T${n}`, n * 10))
  expect(shown(...loop)?.map(({ number }) => number)).toEqual([1, 2, 3])
  expect(shown(refused('T1', 0), depositWith({ idp: 'T1' }, 'key', { at: 10 }))).toHaveLength(2)
  expect(shown(refused('T1', 0))).toHaveLength(1)
  const unread = [0, 10].map((at) => customer(at, at === 0 ? idpRefused : {}))
  expect(shown(...unread)).toHaveLength(2)
  const inVain = [0, 1, 2, 3, 4, 5, 6].map((n) => poolsWith(`T${n}`, { at: n * 10, ...idpRefused }))
  expect(shown(...inVain)).toHaveLength(3)
})

test('a renewal that is answered ends the repetitions', () => {
  const lists = (fate: object) => [0, 1, 2, 3, 4, 5, 6].map((n) => poolsWith(`T${n}`, { at: n * 10, ...fate }))
  const [first, ...others] = lists(idpRefused)
  expect(deeds(first!, ...others)).toEqual(['unclear'])
  expect(deeds(first!, ...others.slice(1), poolsWith('T9', { at: 90 }))).toEqual(['renewed'])
})

test('a request whose body is not on record may be another one', () => {
  const create = (idp: string, at: number, parts = {}) =>
    customer(at, { request: { idp_token: shownToken(idp) }, ...parts })
  expect(deeds(create('T1', 0, idpRefused), create('T1', 10))).toEqual(['unclear'])
})
