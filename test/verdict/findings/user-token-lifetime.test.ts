import { expect, test } from 'vitest'
import { userTokenLifetime } from '../../../src/verdict/findings/user-token-lifetime.ts'
import { evidenceOf } from '../evidence.ts'
import { depositWith, shownToken } from '../token-traffic.ts'

/** Tokens that came at second 1000. */
const withClaims = (...claims: Record<string, unknown>[]) =>
  userTokenLifetime.judge(
    evidenceOf(
      claims.map((some, i) =>
        depositWith({ user: shownToken(`U${i}`, { claims: some }) }, `key ${i}`, { at: 1_000_000 }),
      ),
    ),
  )

test('without a token that expires there is nothing to judge', () => {
  expect(withClaims().outcome).toBe('not_exercised')
  expect(withClaims({}, { exp: 'soon' }, { iat: 0, exp: 900 }).outcome).toBe('not_exercised')
  expect(withClaims({ exp: '4600' }, { iat: 0, exp: 1000 }).outcome).toBe('not_exercised')
  expect(withClaims({ iat: 5000, exp: 4600 }, { iat: 4600, exp: 4600 }).outcome).toBe('not_exercised')
})

test('an hour passes, also with iat some minutes back, and without iat', () => {
  expect(withClaims({ iat: 1000, exp: 4600 })).toMatchObject({
    outcome: 'passed',
    explanation: expect.stringContaining('1.0 h'),
  })
  expect(withClaims({ iat: 940, exp: 4600 }).outcome).toBe('passed')
  expect(withClaims({ exp: 4600 }).outcome).toBe('passed')
})

test('a day fails, with iat or without', () => {
  expect(withClaims({ iat: 1000, exp: 87_400 })).toMatchObject({ outcome: 'failed', came: '24.0 h' })
  expect(withClaims({ exp: 87_400 }).outcome).toBe('failed')
  expect(withClaims({ iat: 1000, exp: 1e300 }).outcome).toBe('failed')
})

test('one long-lived token among others may be a test', () => {
  expect(withClaims({ iat: 1000, exp: 4600 }, { iat: 1000, exp: 87_400 }).outcome).toBe('needs_review')
})

test('lifetimes are said in minutes, hours or days', () => {
  const came = (exp: number) => withClaims({ iat: 1000, exp: 1000 + exp })
  expect(came(900).explanation).toBe('1 user token lived an hour or less, the longest 15 min.')
  expect([came(7200).came, came(47 * 3600).came, came(48 * 3600).came, came(240 * 3600).came]).toEqual([
    '2.0 h',
    '47.0 h',
    '2 days',
    '10 days',
  ])
})

test('one right token is shown, or two wrong ones', () => {
  const [right, wrong] = [
    { iat: 1000, exp: 4600 },
    { iat: 1000, exp: 87_400 },
  ]
  expect(withClaims(right, right).request_ids).toHaveLength(1)
  expect(withClaims(wrong, wrong, wrong).request_ids).toHaveLength(2)
})

test('iat may be five minutes back, no more', () => {
  expect([3900, 3901].map((lived) => withClaims({ iat: 1000, exp: 1000 + lived }).outcome)).toEqual([
    'passed',
    'failed',
  ])
})
