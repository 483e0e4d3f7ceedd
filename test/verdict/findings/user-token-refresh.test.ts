import { expect, test } from 'vitest'
import { userTokenRefresh } from '../../../src/verdict/findings/user-token-refresh.ts'
import { evidenceOf } from '../evidence.ts'
import { exchange } from '../exchange.ts'
import { depositWith, shownToken, struck, userRefused } from '../token-traffic.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
  userTokenRefresh.judge(evidenceOf(exchanges, rest))

const refused = (user: Parameters<typeof depositWith>[0]['user'] = 'U1') =>
  depositWith({ user }, 'key', { at: 10, ...userRefused, ...struck('bad_signature') })

test('a token that was never right is a matter of configuration, or a test', () => {
  expect(judged([depositWith({}, 'key', userRefused)]).outcome).toBe('not_exercised')
})

test('a fresh token and the same request once more pass', () => {
  const exchanges = [refused(), depositWith({ user: 'U2' }, 'key', { at: 30 })]
  expect(judged(exchanges)).toMatchObject({
    outcome: 'passed',
    request_ids: exchanges.map(({ request_id }) => request_id),
  })
})

test('a token that was accepted before and has expired counts as well', () => {
  const exchanges = [
    depositWith({ user: 'U1' }, 'key 0'),
    depositWith({ user: 'U1' }, 'key', { at: 10, ...userRefused }),
  ]
  expect(judged(exchanges).outcome).toBe('failed')
  expect(judged([...exchanges, depositWith({ user: 'U2' }, 'key', { at: 20 })]).outcome).toBe('passed')
})

test('the same token again fails', () => {
  expect(judged([refused(), depositWith({ user: 'U1' }, 'key', { at: 5000 })])).toMatchObject({
    outcome: 'failed',
    came: 'the same token again',
  })
})

test('the same token again, from another worker that has the same order, is no answer to it', () => {
  const renewed = depositWith({ user: 'U2' }, 'key', { at: 30 })
  const other = depositWith({ user: 'U1' }, 'key', { at: 16, connection: 2 })
  expect(judged([refused(), other, renewed])).toMatchObject({
    outcome: 'passed',
    request_ids: [expect.any(String), renewed.request_id],
  })
  expect(judged([refused(), { ...other, connection: 1 }, renewed]).outcome).toBe('failed')
})

test('an equal token passes when it was issued in the second of the refusal: nobody can tell them apart', () => {
  const fresh = shownToken('U1', { claims: { iat: 0 } })
  expect(judged([refused(fresh), depositWith({ user: fresh }, 'key', { at: 30 })]).outcome).toBe('passed')
})

test('nothing fails once the client has ended', () => {
  expect(judged([refused()])).toMatchObject({ outcome: 'failed', came: 'nothing' })
  expect(judged([refused()], { ended: false }).outcome).toBe('needs_review')
})

test('the fresh token of another end user is no answer to it', () => {
  const bob = depositWith({ user: 'U2' }, 'key of bob', {
    external_id: 'bob',
    at: 30,
    request: { path: '/v1/partner/end_users/bob/deposit' },
  })
  expect(judged([refused(), bob]).outcome).toBe('failed')
})

test('again and again under one key fails', () => {
  const again = [2, 3].map((i) =>
    depositWith({ user: `U${i}` }, 'key', { at: i * 20, ...userRefused, ...struck('bad_signature') }),
  )
  expect(judged([refused(), ...again])).toMatchObject({ outcome: 'failed', came: 'repetition after repetition' })
})

test('a request refused before its body was read is known by what else it has', () => {
  const unread = { ...refused(), request: { ...refused().request, body: null } }
  expect(judged([unread, depositWith({ user: 'U2' }, 'key', { at: 30 })]).outcome).toBe('passed')
})

test('an equal request with another body is not the same', () => {
  const other = depositWith({ user: 'U2' }, 'key 2', {
    at: 30,
    request: { body: '{"portfolio_id":"jar_1","amount_minor":"7"}' },
  })
  expect(judged([refused(), other]).outcome).toBe('failed')
})

test('a token counts as right when an answer below 400 came of it, and only its own', () => {
  const later = depositWith({ user: 'U1' }, 'key', { at: 10, ...userRefused })
  const before = (parts: object) => judged([depositWith({ user: 'U1' }, 'key 0', parts), later]).outcome
  expect(before({})).toBe('failed')
  expect(before({ response: { status: 400 } })).toBe('not_exercised')
  expect(before({ response: null })).toBe('not_exercised')
  expect(judged([exchange(), later]).outcome).toBe('not_exercised')
})

test('a request without a user token is refused for its lack, fault or not', () => {
  expect(judged([exchange({ ...userRefused, ...struck('bad_signature') })]).outcome).toBe('not_exercised')
})

test('a repetition without a token, or with an old one, brings no fresh one', () => {
  const bare = depositWith({}, 'key', { at: 30 })
  bare.request = { ...bare.request, user_token: null }
  expect(judged([refused(), bare])).toMatchObject({ outcome: 'failed', came: 'the same token again' })
  const old = shownToken('U1', { claims: { iat: 1 } })
  const late = depositWith({ user: old }, 'key', { at: 9000, ...userRefused, ...struck('bad_signature') })
  expect(judged([late, depositWith({ user: old }, 'key', { at: 9100 })]).outcome).toBe('failed')
  const text = shownToken('U1', { claims: { iat: '99999' } })
  expect(judged([refused(), depositWith({ user: text }, 'key', { at: 30 })]).outcome).toBe('failed')
  const unread = shownToken('U1', { claims: null })
  expect(judged([refused(), depositWith({ user: unread }, 'key', { at: 30 })]).outcome).toBe('failed')
})
