import { expect, test } from 'vitest'
import { unknownFieldTolerance } from '../../../src/verdict/findings/unknown-field-tolerance.ts'
import { evidenceOf } from '../evidence.ts'
import type { ExchangeParts } from '../exchange.ts'
import { page } from '../lists.ts'
import { depositWith, fetchOf, poolsWith, struck } from '../token-traffic.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
  unknownFieldTolerance.judge(evidenceOf(exchanges, rest))

const strange = (key: string, parts: ExchangeParts = {}) =>
  depositWith({}, key, { ...struck('unknown_fields'), ...parts })

test('answers of today exercise nothing, nor do refusals with new fields', () => {
  expect(judged([depositWith({}, 'key')]).outcome).toBe('not_exercised')
  expect(judged([strange('key', { response: { status: 422, code: 'insufficient_balance' } })]).outcome).toBe(
    'not_exercised',
  )
  expect(judged([strange('key', { end: 'dropped' })]).outcome).toBe('not_exercised')
})

test('going on with something new passes', () => {
  const next = page({ at: 20 })
  expect(judged([strange('key'), next])).toMatchObject({
    outcome: 'passed',
    request_ids: [expect.anything(), next.request_id],
  })
  expect(judged([fetchOf('T', struck('unknown_fields')), poolsWith('T', { at: 20 })]).outcome).toBe('passed')
})

test('every deposit repeated under its key fails, whatever else was not repeated', () => {
  const portfolio = strange('p', { operation: 'create_portfolio', request: { path: '/portfolios' } })
  const twice = ['a', 'b'].flatMap((key, i) => [strange(key, { at: 100 * i }), strange(key, { at: 100 * i + 50 })])
  expect(judged([portfolio, ...twice, page({ at: 300 })])).toMatchObject({
    outcome: 'failed',
    request_ids: [twice[0]!.request_id, twice[1]!.request_id],
  })
  expect(judged(twice, { ended: false }).outcome).toBe('needs_review')
})

test('one of several repeated on purpose is no failure, and no reason to doubt the others', () => {
  const deposits = [strange('a'), ...[20, 40, 60].map((at) => strange('b', { at }))]
  expect(judged([...deposits, page({ at: 80 })]).outcome).toBe('passed')
})

test('the only deposit repeated is on purpose when other writes are not, and the command ends well', () => {
  const portfolio = strange('p', { operation: 'create_portfolio', request: { path: '/portfolios' } })
  const exchanges = [portfolio, strange('a', { at: 10 }), strange('a', { at: 20 }), page({ at: 40 })]
  expect(judged(exchanges).outcome).toBe('passed')
  expect(judged(exchanges, { end: 'failed' }).outcome).toBe('needs_review')
  expect(judged(exchanges.slice(1)).outcome).toBe('needs_review')
})

test('an equal deposit under a fresh key may be wanted', () => {
  expect(judged([strange('a'), strange('b', { at: 20 }), page({ at: 40 })]).outcome).toBe('passed')
})

test('a retry that was under way, or of a dropped answer, is no sign', () => {
  expect(judged([strange('a', { until: 50 }), strange('a', { at: 20, until: 50 }), page({ at: 60 })]).outcome).toBe(
    'passed',
  )
  expect(judged([strange('a', { end: 'dropped' }), strange('a', { at: 20 }), page({ at: 60 })]).outcome).toBe('passed')
})

test('nothing afterwards needs review, and so does what other processes of other end users do', () => {
  expect(judged([strange('a')])).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringContaining('gave up'),
  })
  expect(judged([strange('a')], { ended: false })).toMatchObject({ explanation: expect.stringContaining('so far') })
  expect(judged([strange('a'), page({ at: 20, connection: 2, external_id: 'bob' })]).outcome).toBe('needs_review')
})
