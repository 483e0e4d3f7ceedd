import { expect, test } from 'vitest'
import { paginationCompletion } from '../../../src/verdict/findings/pagination-completion.ts'
import { evidenceOf } from '../evidence.ts'
import { page } from '../lists.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
  paginationCompletion.judge(evidenceOf(exchanges, rest))

test('lists of one page exercise nothing', () => {
  expect(judged([page(), page()]).outcome).toBe('not_exercised')
  expect(judged([page({ next: 'A', end: 'dropped' })]).outcome).toBe('not_exercised')
})

test('a list that went on and was never followed needs review', () => {
  const first = page({ next: 'A' })
  expect(judged([first, page({ next: 'A' })])).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringMatching(/^2 pages said has_more: true, the first of list_transactions of alice/),
    request_ids: [first.request_id],
  })
  expect(judged([first], { ended: false }).explanation).toContain('so far')
})

test('one further page of any list passes', () => {
  const [first, second] = [page({ next: 'A' }), page({ after: 'A' })]
  const ids = [first.request_id, second.request_id]
  expect(judged([first, second])).toMatchObject({ outcome: 'passed', request_ids: ids })
  expect(judged([page({ next: 'B', external_id: 'bob' }), first, second]).outcome).toBe('passed')
})

test('a page of a list that did not go on, or asked for before, shows nothing', () => {
  expect(judged([page({ next: 'A' }), page({ after: 'C', external_id: 'bob' })]).outcome).toBe('needs_review')
  expect(judged([page({ after: 'C' }), page({ next: 'A' })]).outcome).toBe('needs_review')
})

test('answers that are no lists say nothing of pages', () => {
  const deposit = { ...page({ next: 'A' }), operation: 'deposit' as const }
  expect(judged([deposit]).outcome).toBe('not_exercised')
  const list = page({ next: 'A' })
  expect(judged([{ ...list, response: { ...list.response!, body: null } }]).outcome).toBe('not_exercised')
})

test('a page that was asked for by a cursor shows no further one', () => {
  expect(judged([page({ after: 'A', next: 'B' }), page()]).outcome).toBe('needs_review')
})

test('nothing so far is shown by the first page, and something later is expected of a client that is still there', () => {
  const first = page({ next: 'A' })
  const judgement = judged([first], { ended: false })
  expect(judgement).toMatchObject({ request_ids: [first.request_id], explanation: expect.stringMatching(/ so far\.$/) })
  expect(judged([first]).explanation).toMatch(/ wrong where it needs all of them\.$/)
})
