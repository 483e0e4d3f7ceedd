import { expect, test } from 'vitest'
import { failed, needsReview, notExercised, passed } from '../../src/verdict/finding.ts'

const [first, second] = [
  { request_id: 'req_1', number: 1 },
  { request_id: 'req_2', number: 2 },
]

test('a judgement names its requests once each, the oldest first, and leaves what it was given in its order', () => {
  const given = [second, first, second]
  expect(passed('Right.', given)).toEqual({ outcome: 'passed', explanation: 'Right.', request_ids: ['req_1', 'req_2'] })
  expect(given).toEqual([second, first, second])
})

test('the outcome is that of its name', () => {
  const values = { expected: 'one', came: 'two' }
  expect(failed('Wrong.', values, [first])).toEqual({
    ...{ outcome: 'failed', explanation: 'Wrong.', request_ids: ['req_1'] },
    ...values,
  })
  const open = { outcome: 'needs_review', explanation: 'Open.', request_ids: ['req_2'] }
  expect(needsReview('Open.', [second])).toEqual(open)
  expect(notExercised('None.')).toEqual({ outcome: 'not_exercised', explanation: 'None.', request_ids: [] })
})
