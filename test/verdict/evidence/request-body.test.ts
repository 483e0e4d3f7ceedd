import { expect, test } from 'vitest'
import { fieldOf, sameBody } from '../../../src/verdict/evidence/requests.ts'
import { exchange } from '../exchange.ts'

const withBody = (body: string | null, rest: { body_cut?: boolean; length?: number; body_bytes?: number } = {}) => {
  const { length, ...parts } = rest
  const headers: [string, string][] = length === undefined ? [] : [['content-length', `${length}`]]
  return exchange({ request: { body, headers, body_bytes: body?.length ?? 0, ...parts } })
}

test.each([
  ['the same text', withBody('{"a":1}'), withBody('{"a":1}'), true],
  ['other text', withBody('{"a":1}'), withBody('{"a":2}'), false],
  ['members in another order', withBody('{"a":1,"b":{"c":2,"d":3}}'), withBody('{ "b": {"d":3,"c":2}, "a": 1 }'), true],
  ['lists in another order', withBody('[1,2]'), withBody('[2,1]'), false],
  ['the same broken JSON', withBody('{"a":'), withBody('{"a":'), true],
  ['broken JSON', withBody('{"a":'), withBody('{"a": '), false],
  ['one that was not read', withBody(null), withBody('{"a":1}'), undefined],
  ['one that was not read and was longer', withBody(null, { length: 9 }), withBody('{"a":1}'), false],
  ['one that was not read and as long', withBody(null, { length: 7 }), withBody('{"a":1}'), undefined],
  [
    'beginnings of bodies of other lengths',
    withBody('{"a', { body_cut: true, length: 90 }),
    withBody('{"a', { body_cut: true, length: 80 }),
    false,
  ],
  [
    'equal beginnings of bodies of one length',
    withBody('{"a', { body_cut: true, length: 90 }),
    withBody('{"a', { body_cut: true, length: 90 }),
    undefined,
  ],
  ['other beginnings', withBody('{"a', { body_cut: true }), withBody('{"b', { body_cut: true }), undefined],
  ['one that was cut, and a whole one', withBody('{"a":1}', { body_cut: true }), withBody('{"a":1}'), undefined],
  [
    'two requests that have none',
    exchange({ request: { method: 'GET' } }),
    exchange({ request: { method: 'GET' } }),
    true,
  ],
  ['one that has none, and one that was not read', exchange({ request: { method: 'GET' } }), withBody(null), undefined],
  ['two that were not read', withBody(null), withBody(null), undefined],
])('%s', (_what, one, other, same) => {
  expect(sameBody(one, other)).toBe(same)
  expect(sameBody(other, one)).toBe(same)
})

test('a field is read from a whole JSON object only', () => {
  expect(fieldOf(withBody('{"a":1}'), 'a')).toBe(1)
  expect(fieldOf(withBody('{"a":1}'), 'toString')).toBeUndefined()
  for (const body of [null, '', 'null', '5', '{"a":']) expect(fieldOf(withBody(body), 'a')).toBeUndefined()
  expect(fieldOf(withBody('{"a":1}', { body_cut: true }), 'a')).toBeUndefined()
})
