import { expect, test } from 'vitest'
import { revertedTransfer } from '../../../src/verdict/findings/reverted-transfer.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, DROPPED, transfer } from '../requests.ts'

const REVERTED = answered(422, 'transaction_reverted')
const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => revertedTransfer.judge(evidenceOf(exchanges))
const reverted = transfer(1, 0, REVERTED)

test('the same key again and again fails', () => {
  const again = [10, 20, 30].map((at) => transfer(1, at, REVERTED))
  expect(judged(reverted, ...again)).toMatchObject({
    outcome: 'failed',
    explanation: expect.stringContaining('3 times'),
    request_ids: [reverted, ...again.slice(0, 2)].map(({ request_id }) => request_id),
  })
})

test('the same key once more may be a test', () => {
  expect(judged(reverted, transfer(1, 10, REVERTED)).outcome).toBe('needs_review')
})

test.each([
  ['nothing follows', [reverted]],
  ['a new attempt has a fresh key', [reverted, transfer(2, 10), transfer(3, 20)]],
  ['the client was not told the first time', [transfer(1, 0, { ...REVERTED, ...DROPPED }), transfer(1, 10, REVERTED)]],
  [
    'repetitions were on their way already',
    [transfer(1, 0, { ...REVERTED, until: 50 }), transfer(1, 10), transfer(1, 20)],
  ],
  ['another end user has the same key', [reverted, ...[10, 20].map((at) => transfer(1, at, { external_id: 'bob' }))]],
])('it passes when %s', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('passed')
})

test('what a client will do that is still there is not known', () => {
  expect(revertedTransfer.judge(evidenceOf([reverted], { ended: false })).outcome).toBe('needs_review')
})

test('other refusals exercise nothing', () => {
  expect(judged(transfer(1, 0, answered(422, 'insufficient_balance'))).outcome).toBe('not_exercised')
})
