import { expect, test } from 'vitest'
import { userTokenHeader } from '../../../src/verdict/findings/user-token-header.ts'
import { evidenceOf } from '../evidence.ts'
import { depositWith, shownToken } from '../token-traffic.ts'

const GOOD = { alg: 'RS256', kid: 'key-1', typ: 'JWT' }
const withHeaders = (...headers: (Record<string, unknown> | null)[]) =>
  userTokenHeader.judge(
    evidenceOf(headers.map((header, i) => depositWith({ user: shownToken(`U${i}`, { header }) }, `key ${i}`))),
  )

test('without user tokens there is nothing to judge, and what is no JWT is none', () => {
  expect(userTokenHeader.judge(evidenceOf([])).outcome).toBe('not_exercised')
  expect(withHeaders(null).outcome).toBe('not_exercised')
})

test('alg, kid and typ pass, typ in either case', () => {
  expect(withHeaders(GOOD, { ...GOOD, typ: 'jwt' }, { ...GOOD, kid: 'unknown' })).toMatchObject({ outcome: 'passed' })
})

test.each([
  [{ ...GOOD, alg: 'RS512' }, 'alg "RS512"'],
  [{ ...GOOD, alg: 'none' }, 'alg "none"'],
  [{ alg: 'RS256', typ: 'JWT' }, 'kid missing'],
  [{ ...GOOD, kid: 7 }, 'kid 7'],
  [{ alg: 'RS256', kid: 'key-1' }, 'typ missing'],
  [{ ...GOOD, kid: '' }, 'kid ""'],
  [{ ...GOOD, typ: ['JWT'] }, 'typ ["JWT"]'],
  [{ ...GOOD, typ: 'my-jwt' }, 'typ "my-jwt"'],
  [{ ...GOOD, typ: 'jwt+x' }, 'typ "jwt+x"'],
  [{ ...GOOD, alg: 'x'.repeat(90) }, `alg "${'x'.repeat(59)}`],
])('%j fails', (header, came) => {
  expect(withHeaders(header)).toMatchObject({ outcome: 'failed', came, request_ids: { length: 1 } })
})

test('one bad token among good ones may be a test', () => {
  expect(withHeaders(GOOD, { ...GOOD, alg: 'none' }).outcome).toBe('needs_review')
})

test('a token sent many times is one token', () => {
  const [good, bad] = [depositWith({}, 'key'), depositWith({ user: shownToken('B', { header: {} }) }, 'key')]
  expect(userTokenHeader.judge(evidenceOf([good, bad, bad, bad])).outcome).toBe('needs_review')
})

test('one right token is shown, or two wrong ones', () => {
  expect(withHeaders(GOOD, GOOD).request_ids).toHaveLength(1)
  expect(withHeaders({}, {}, {}).request_ids).toHaveLength(2)
})
