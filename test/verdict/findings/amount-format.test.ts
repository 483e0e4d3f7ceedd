import { expect, test } from 'vitest'
import { amountFormat } from '../../../src/verdict/findings/amount-format.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => amountFormat.judge(evidenceOf(exchanges))
const REFUSED = answered(400, 'validation_error')

test.each([1000, '-5', '1.5', '1e6', '0x10', ' 7', '', '٣', null, {}])('the amount %j fails', (amount) => {
  const judgement = judged(transfer(1, 0, { amount, ...REFUSED }))
  expect(judgement).toMatchObject({ outcome: 'failed', came: JSON.stringify(amount) })
})

test('more wrong than right fails, few wrong ones may be tests', () => {
  const [right, wrong] = [transfer(1, 0), transfer(2, 10, { amount: 5, ...REFUSED })]
  expect(judged(right, wrong, wrong).outcome).toBe('failed')
  expect(judged(right, right, wrong).outcome).toBe('needs_review')
})

test('digits pass, however many', () => {
  expect(judged(transfer(1, 0, { amount: '9'.repeat(70) })).outcome).toBe('passed')
})

test.each([
  ['refused for something else', [transfer(1, 0, answered(422, 'insufficient_balance'))]],
  ['unread', [transfer(1, 0, { ...UNREAD, ...answered(401) })]],
  ['no JSON', [transfer(1, 0, { request: { body: '{"amount_minor": 5' }, ...REFUSED })]],
  ['cut in the record', [transfer(1, 0, { request: { body: '{"amount_minor": 5}', body_cut: true }, ...REFUSED })]],
])('transfers %s exercise nothing', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('only deposits and withdrawals have amounts, and as many as needed are shown', () => {
  const other = transfer(5, 50, { operation: 'create_portfolio', amount: 5 })
  const first = transfer(1, 0)
  expect(judged(other, first, transfer(2, 10))).toEqual({
    outcome: 'passed',
    explanation: 'The amounts of 2 transfers were digit strings.',
    request_ids: [first.request_id],
  })
  const wrong = [1, 2, 3, 4, 5].map((n) => transfer(n, n, { amount: n, ...REFUSED }))
  expect(judged(...wrong).request_ids).toHaveLength(3)
})
