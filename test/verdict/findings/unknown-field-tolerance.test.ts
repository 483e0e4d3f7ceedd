import { describe, expect, test } from 'vitest'
import { unknownFieldTolerance } from '../../../src/verdict/findings/unknown-field-tolerance.ts'
import { evidenceOf } from '../evidence.ts'
import { type ExchangeParts, exchange } from '../exchange.ts'
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

test('a request without a key may come again', () => {
  const lists = [0, 10, 20].map((at) => poolsWith('T', { at, ...struck('unknown_fields') }))
  expect(judged([...lists, page({ at: 40, external_id: null })]).outcome).toBe('passed')
})

test('an operation of which one write was not repeated is no failure', () => {
  const deposits = ['a', 'b'].flatMap((key, i) => [strange(key, { at: 100 * i }), strange(key, { at: 100 * i + 50 })])
  expect(judged([...deposits, strange('c', { at: 300 }), page({ at: 400 })]).outcome).toBe('passed')
})

test('the operation that was repeated most is shown, by the write that came most often', () => {
  const portfolio = { operation: 'create_portfolio' as const, request: { path: '/portfolios' } }
  const portfolios = [strange('p', portfolio), strange('p', { at: 20, ...portfolio })]
  const one = [strange('a', { at: 100 }), strange('a', { at: 150 })]
  const other = [200, 250, 300, 350].map((at) => strange('b', { at }))
  expect(judged([...portfolios, ...one, ...other])).toEqual({
    outcome: 'failed',
    explanation:
      'deposit of alice was answered with success and new fields, and sent again 3 times under the same key. So was every deposit: 2 of 2.',
    expected: 'the answer taken as it is',
    came: 'the same request again, as after a failure',
    request_ids: other.slice(0, 3).map(({ request_id }) => request_id),
  })
})

test('whose it was is not said where it was of nobody', () => {
  const create = (at: number) => strange('c', { at, operation: 'create_end_user', external_id: null })
  expect(judged([create(0), create(5)]).explanation).toBe(
    'create_end_user was answered with success and new fields, and sent again 1 time under the same key. That may be a test of the key, or a client that takes the answer for a failure.',
  )
})

test('a repeated write is on purpose only when something new follows', () => {
  const bobs = strange('p', {
    operation: 'create_portfolio',
    connection: 2,
    external_id: 'bob',
    request: { path: '/p' },
  })
  const exchanges = [bobs, strange('a', { at: 10 }), strange('a', { at: 20 })]
  expect(judged(exchanges).explanation).toContain('That may be a test of the key')
})

describe('something new is', () => {
  const follows = (first: ReturnType<typeof strange>, ...rest: ReturnType<typeof strange>[]) =>
    judged([first, ...rest]).outcome === 'passed'

  test('no token, nothing that was on its way, and nothing of another process', () => {
    expect(follows(strange('a'), fetchOf('T', { at: 20 }))).toBe(false)
    expect(follows(strange('a', { until: 50 }), page({ at: 20 }))).toBe(false)
    expect(follows(strange('a', { until: 50 }), page({ at: 50 }))).toBe(true)
    expect(follows(page(), strange('a', { at: 20 }))).toBe(false)
    const pools = poolsWith('T', { ...struck('unknown_fields') })
    expect(follows(pools, exchange({ at: 20, connection: 2, external_id: null }))).toBe(false)
  })

  test('what its end user asks for on another connection', () => {
    expect(follows(strange('a'), page({ at: 20, connection: 2 }))).toBe(true)
  })

  test('shown with the first answer that had new fields', () => {
    const lists = [0, 20].map((at) => poolsWith('T', { at, ...struck('unknown_fields') }))
    const deposit = depositWith({}, 'key', { at: 40 })
    expect(judged([...lists, deposit]).request_ids).toEqual([lists[0]?.request_id, deposit.request_id])
  })

  test('shown to be missing by the last of them', () => {
    const stranger = (n: number) => strange('b', { at: 50 * n, connection: n, external_id: `user-${n}` })
    const last = stranger(4)
    expect(judged([strange('a'), stranger(2), stranger(3), last]).request_ids).toEqual([last.request_id])
  })
})
