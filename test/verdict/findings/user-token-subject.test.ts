import { expect, test } from 'vitest'
import { userTokenSubject } from '../../../src/verdict/findings/user-token-subject.ts'
import { evidenceOf } from '../evidence.ts'
import { exchange } from '../exchange.ts'
import { depositWith, shownToken } from '../token-traffic.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
  userTokenSubject.judge(evidenceOf(exchanges, rest))

const sent = (sub: unknown, external_id: string) =>
  depositWith({ user: shownToken(`token of ${sub}`, { claims: { sub } }) }, `key of ${external_id}`, { external_id })
const created = (external_id: string) =>
  exchange({ operation: 'create_end_user', external_id, response: { status: 201 } })

test('without user tokens there is nothing to judge', () => {
  expect(judged([exchange(), created('alice'), sent(undefined, 'alice')]).outcome).toBe('not_exercised')
})

test('each with its own passes', () => {
  expect(judged([sent('alice', 'alice'), sent('bob', 'bob')])).toMatchObject({
    outcome: 'passed',
    explanation: expect.stringContaining('2 end users'),
  })
})

test('never the right one fails', () => {
  expect(judged([sent('service', 'alice')])).toMatchObject({
    outcome: 'failed',
    expected: 'sub "alice"',
    came: 'sub "service"',
  })
})

test('the token of the first end user for the second fails when the client ends at that', () => {
  const exchanges = [
    created('alice'),
    sent('alice', 'alice'),
    sent('alice', 'alice'),
    created('bob'),
    sent('alice', 'bob'),
  ]
  expect(judged(exchanges).outcome).toBe('failed')
  expect(judged(exchanges, { ended: false }).outcome).toBe('needs_review')
})

test('it may be a test when others go right, when alice goes on, or when bob was never created', () => {
  const begun = [created('alice'), sent('alice', 'alice'), sent('alice', 'alice')]
  expect(judged([...begun, created('bob'), sent('alice', 'bob'), sent('alice', 'alice')]).outcome).toBe('needs_review')
  expect(judged([...begun, sent('carol', 'carol'), created('bob'), sent('alice', 'bob')]).outcome).toBe('needs_review')
  expect(judged([...begun, sent('alice', 'bob')]).outcome).toBe('needs_review')
})

test('eight workers for eight end users pass', () => {
  const users = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  expect(judged([...users, ...users].map((user) => sent(user, user))).outcome).toBe('passed')
})

test('tokens of other requests are not judged', () => {
  expect(judged([{ ...sent('alice', 'bob'), operation: 'list_pools' }]).outcome).toBe('not_exercised')
  expect(judged([{ ...sent('alice', 'bob'), external_id: null }]).outcome).toBe('not_exercised')
  expect(judged([depositWith({ user: shownToken('U', { claims: null }) }, 'key')]).outcome).toBe('not_exercised')
})

test('one right request is shown, or two wrong ones, and whose token it was for whom is said', () => {
  expect(judged([sent('alice', 'alice'), sent('bob', 'bob')]).request_ids).toHaveLength(1)
  const wrong = [1, 2, 3].map(() => sent('service', 'alice'))
  expect(judged(wrong)).toMatchObject({
    explanation:
      '3 requests of 3 requests came with the token of another end user, such as that of "service" for "alice".',
    request_ids: wrong.slice(0, 2).map(({ request_id }) => request_id),
  })
})

test('the token of a third end user among those for the second may be a test', () => {
  const begun = [created('alice'), ...[1, 2, 3].map(() => sent('alice', 'alice')), created('bob')]
  expect(judged([...begun, sent('alice', 'bob'), sent('carol', 'bob')]).outcome).toBe('needs_review')
  expect(judged([...begun, sent('alice', 'bob'), sent('alice', 'bob')]).outcome).toBe('failed')
})
