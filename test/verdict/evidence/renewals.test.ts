import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { idpTokenOf } from '../../../src/verdict/evidence/idp-tokens.ts'
import { renewals } from '../../../src/verdict/evidence/renewals.ts'
import { evidenceOf } from '../evidence.ts'
import { customer } from '../requests.ts'
import { depositWith, idpRefused, poolsWith, shownToken } from '../token-traffic.ts'

const deeds = (...exchanges: RecordedExchange[]) =>
  renewals(evidenceOf(exchanges).exchanges, {
    code: 'invalid_idp_token',
    counts: () => true,
    isFresh: (refused, next) => idpTokenOf(refused) !== idpTokenOf(next),
  }).map(({ did }) => did)
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

test('a request whose body is not on record may be another one', () => {
  const create = (idp: string, at: number, parts = {}) =>
    customer(at, { request: { idp_token: shownToken(idp) }, ...parts })
  expect(deeds(create('T1', 0, idpRefused), create('T1', 10))).toEqual(['unclear'])
})
