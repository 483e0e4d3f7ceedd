import { expect, test } from 'vitest'
import { revertedTransfer } from '../../../src/verdict/findings/reverted-transfer.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, DROPPED, portfolio, transfer } from '../requests.ts'

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
  for (const at of [5, 10]) expect(judged(reverted, transfer(1, at, REVERTED)).outcome).toBe('needs_review')
})

test('the same key twice more fails, with what is expected', () => {
  const again = [10, 20].map((at) => transfer(1, at, REVERTED))
  expect(judged(reverted, ...again)).toMatchObject({
    outcome: 'failed',
    expected: 'no repetition, or a fresh key',
    came: 'the same key',
  })
})

test('of several, the one that came most often is judged', () => {
  const others = [30, 40, 50].map((at) => transfer(2, at, REVERTED))
  expect(judged(reverted, ...others).outcome).toBe('failed')
  expect(judged(...others, transfer(3, 90, REVERTED)).outcome).toBe('failed')
})

test('one that is older than the record is not judged, and nor is its repetition', () => {
  const kept = [transfer(1, 0, REVERTED)]
  expect(revertedTransfer.judge(evidenceOf([], { kept })).outcome).toBe('not_exercised')
  expect(revertedTransfer.judge(evidenceOf([transfer(1, 10, REVERTED)], { kept })).outcome).toBe('not_exercised')
})

test.each([
  ['nothing follows', [reverted]],
  ['it began and was answered in the same millisecond', [transfer(1, 0, { ...REVERTED, until: 0 })]],
  [
    'its first answer was cut short',
    [transfer(1, 0, { ...REVERTED, end: 'dropped' }), transfer(1, 10, REVERTED), transfer(2, 20)],
  ],
  ['another request had no answer', [transfer(9, 0, { response: null }), transfer(1, 10, REVERTED)]],
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
  const judge = (...exchanges: Parameters<typeof evidenceOf>[0]) =>
    revertedTransfer.judge(evidenceOf(exchanges, { ended: false }))
  expect(judge(reverted)).toMatchObject({ outcome: 'needs_review', request_ids: [reverted.request_id] })
  expect(judge(reverted, transfer(2, 5))).toMatchObject({ outcome: 'passed', request_ids: [reverted.request_id] })
})

test('other refusals exercise nothing', () => {
  expect(judged(transfer(1, 0, answered(422, 'insufficient_balance'))).outcome).toBe('not_exercised')
  expect(judged(portfolio(1, 0, REVERTED)).outcome).toBe('not_exercised')
})
