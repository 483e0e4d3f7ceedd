import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { type Deed, judgeRenewals } from '../../../src/verdict/evidence/renewals.ts'
import { type EvidenceParts, evidenceOf } from '../evidence.ts'
import { customer } from '../requests.ts'
import { depositWith, idpRefused, poolsWith, shownToken } from '../token-traffic.ts'

const judged = (exchanges: RecordedExchange[], rest: EvidenceParts = {}) =>
  judgeRenewals(evidenceOf(exchanges, rest), {
    noun: 'access token',
    code: 'invalid_idp_token',
    counts: () => true,
    isFresh: (one, other) => one.request.idp_token?.fingerprint !== other.request.idp_token?.fingerprint,
  })

/** Requests of one end user that come to this. */
function done(deed: Deed, external_id: string): RecordedExchange[] {
  const path = `/v1/partner/end_users/${external_id}/deposit`
  const deposit = (idp: string, at: number, parts = {}) =>
    depositWith({ idp }, `key of ${external_id}`, { at, external_id, ...parts, request: { path } })
  const first = deposit('T1', 0, idpRefused)
  if (deed === 'nothing') return [first]
  if (deed === 'same_token') return [first, deposit('T1', 10)]
  if (deed === 'renewed') return [first, deposit('T2', 10)]
  if (deed === 'loop') return [first, deposit('T2', 10, idpRefused), deposit('T3', 20, idpRefused)]
  const create = (idp: string, at: number, parts = {}) =>
    customer(at, { tenant: external_id, request: { idp_token: shownToken(idp) }, ...parts })
  return [create('T1', 0, idpRefused), create('T2', 10)]
}

test.each<[string, Deed[], string, string | undefined]>([
  ['all renewed', ['renewed', 'renewed'], 'passed', undefined],
  ['one sent with the old token, among as many right ones', ['renewed', 'same_token'], 'needs_review', undefined],
  ['more wrong than right', ['renewed', 'same_token', 'nothing'], 'failed', 'the same token again'],
  ['a loop, among right ones', ['renewed', 'renewed', 'loop'], 'failed', 'repetition after repetition'],
  ['a loop after another mistake', ['nothing', 'loop'], 'failed', 'repetition after repetition'],
  ['one that may be another request', ['unclear'], 'needs_review', undefined],
  ['such a one, and right ones', ['renewed', 'unclear'], 'needs_review', undefined],
  ['such a one, and a wrong one', ['unclear', 'same_token'], 'needs_review', undefined],
])('%s', (_what, deeds, outcome, came) => {
  const judgement = judged(deeds.flatMap((deed, n) => done(deed, `user-${n}`)))
  expect([judgement.outcome, judgement.came]).toEqual([outcome, came])
})

test('a request that was sent with the old token fails while the client is still there; one that was not sent again may come yet', () => {
  const outcomes = (['same_token', 'nothing'] as const).map(
    (deed) => judged(done(deed, 'bob'), { ended: false }).outcome,
  )
  expect(outcomes).toEqual(['failed', 'needs_review'])
})

test('whose request it was is said, where it is of an end user', () => {
  expect(judged(done('nothing', 'bob')).explanation).toBe(
    'deposit of bob was refused with 401 invalid_idp_token. Then it was not sent again.',
  )
  expect(judged([poolsWith('T1', idpRefused)]).explanation).toBe(
    'list_pools was refused with 401 invalid_idp_token. Then it was not sent again.',
  )
  expect(judged(done('unclear', 'bob')).explanation).toBe(
    'create_end_user was refused with 401 invalid_idp_token. What came next may be the same request or another one.',
  )
})
