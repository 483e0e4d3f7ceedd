import { describe, expect, test } from 'vitest'
import { booked, LOST, list, made, sibling, transfer, UNAVAILABLE } from '../oracle/story.ts'
import { exchange } from '../verdict/exchange.ts'
import { type Booked, judged, outcomes, row } from './story.ts'

const lost = (key: string, at = 0) => transfer({ key, at, ...LOST })
const refused = transfer({
  key: 'a',
  response: { status: 422, code: 'transaction_reverted' },
  idempotency: { key: 'a', use: 'first' },
})
const putOff = transfer({ key: 'a', response: { status: 429, code: 'rate_limited' }, idempotency: null })
const inPassing = [lost('a'), transfer({ key: 'b', at: 50, amount: '1' }), list(100, ['0xa', '0xb'])]

describe('right books clear', () => {
  test.each<[string, Booked]>([
    ['untold', { exchanges: [lost('a')], booked: [booked('a')], rows: [row()] }],
    ['untold', { exchanges: [lost('a')], booked: [booked('a')], rows: [row({ state: 'open' })] }],
    ['left_open', { exchanges: [lost('a')], booked: [booked('a')], end: 'failed', rows: [row({ state: 'open' })] }],
    ['perhaps_told', { exchanges: inPassing.slice(0, 1), booked: [booked('a')], rpc_at: 50, rows: [row()] }],
    ['refused', { exchanges: [refused], rows: [row({ state: 'failed' })] }],
    ['refused', { exchanges: [refused], rows: [] }],
    ['put_off', { exchanges: [putOff], rows: [row({ state: 'open' })] }],
    ['gave_up', { exchanges: [lost('a')], rows: [row({ state: 'failed' })] }],
    ['gave_up_looked', { exchanges: [lost('a'), list(50, [])], rows: [row({ state: 'failed' })] }],
    ['not_asked_for', { exchanges: [], sibling: sibling(), rows: [row({ state: 'open' })] }],
  ])('%s', (outcome, run) => {
    const { cleared, outcomes: all, said } = judged(run)
    expect(cleared.map((one) => one.outcome)).toEqual([outcome])
    expect(all.map((one) => `${one.outcome} ${one.level}`)).toEqual(['booked ok'])
    expect(all[0]?.sentence).toMatch(/; your books are right\.$/)
    expect(said.verdict).toBe('right')
  })

  test('lucky, and leave what was told', () => {
    const exchanges = [lost('a'), transfer({ key: 'b', at: 50 })]
    expect(outcomes({ exchanges, booked: [booked('b')], rows: [row()] })).toEqual(['booked ok', 'told ok'])
  })

  test('by balances alone', () => {
    const balances = [{ external_id: 'alice', pool_id: 'aave-usdc', principal_minor: '250000000' }]
    expect(outcomes({ exchanges: [lost('a')], booked: [booked('a')], balances })).toEqual(['booked ok'])
  })

  test('a new portfolio whose answer was lost: no money is in it that the books do not have', () => {
    const exchanges = [exchange({ operation: 'create_portfolio', idempotency: { key: 'p', use: 'first' }, ...LOST })]
    expect(outcomes({ exchanges, rows: [] })).toEqual(['booked ok'])
    const wrong = { exchanges: [...exchanges, transfer({ key: 'a', at: 50 })], booked: [booked('a')], rows: [] }
    expect(outcomes(wrong)).toContain('gave_up warning')
  })

  test('not what was paid twice, taken out unpaid, or put right', () => {
    const twice = { exchanges: [lost('a'), transfer({ key: 'b', at: 50 })], booked: [booked('a'), booked('b')] }
    expect(outcomes({ ...twice, rows: [row(), row()] })).toEqual(['paid_twice critical', 'told ok'])
    const more = { exchanges: [transfer({ key: 'a' }), transfer({ key: 'b', at: 50 })], booked: twice.booked }
    expect(outcomes({ ...more, sibling: sibling(), rows: [row(), row()] })).toContain('paid_twice critical')
    const out = {
      exchanges: [transfer({ key: 'w', operation: 'withdraw' })],
      booked: [booked('w', { type: 'withdraw' })],
      rows: [row({ type: 'withdraw' })],
    }
    expect(outcomes({ ...out, sibling: sibling({ made: [] }) })).toContain('took_out_unpaid critical')
  })

  test('not a run that hung, or what is not known yet', () => {
    const run = { exchanges: [lost('a')], booked: [booked('a')], rows: [row()] }
    expect(outcomes({ ...run, end: 'hung' })).toEqual(['hung serious', 'booked ok'])
    const forgotten = { room: 0, deleted: 3, reset: 0 }
    expect(outcomes({ ...run, forgotten })).toEqual(['forgotten inconclusive', 'booked ok'])
  })
})

describe('wrong books', () => {
  const failed = { exchanges: [lost('a')], booked: [booked('a')], rows: [row({ state: 'failed' as const })] }

  test('are critical if the command ended well, serious if it failed or hung, and take the place of what they would have cleared', () => {
    expect(outcomes(failed)).toEqual(['wrong_books critical'])
    expect(outcomes({ ...failed, end: 'failed' })).toEqual(['wrong_books serious'])
    expect(outcomes({ ...failed, end: 'hung' })).toEqual(['wrong_books serious', 'hung serious'])
  })

  test('stand beside what the client was told', () => {
    const run = { exchanges: [transfer({ key: 'a' })], booked: [booked('a')], rows: [] }
    expect(outcomes(run)).toEqual(['wrong_books critical', 'told ok'])
    expect(outcomes({ exchanges: [refused], rows: [row()] })).toEqual(['wrong_books critical'])
  })

  test('clear what they have right, and nothing else', () => {
    const exchanges = [lost('a'), lost('b', 50)].map((one, i) =>
      i === 0 ? one : { ...one, request: transfer({ key: 'b', amount: '7' }).request },
    )
    const both = [booked('a'), booked('b', { amount_minor: '7' })]
    expect(outcomes({ exchanges, booked: both, rows: [row({ state: 'open' })] })).toEqual([
      'wrong_books critical',
      'booked ok',
    ])
  })

  test('name the operation, its requests, and the money that they miss', () => {
    const [wrong] = judged(failed).outcomes
    expect(wrong).toMatchObject({
      ...{ tenant: 'acme', external_id: 'alice', type: 'deposit', idempotency_key: 'a' },
      ...{ amount_minor: '250000000', portfolio_id: 'jar_1', request_ids: [expect.any(String)] },
      money_moved_wrongly: { portfolio_id: 'jar_1', amount_minor: '250000000', token_symbol: 'USDC', times: 1 },
    })
  })

  test('miss no money where they have too much', () => {
    const [wrong] = judged({ exchanges: [], rows: [row()] }).outcomes
    expect(wrong).toMatchObject({ outcome: 'wrong_books', request_ids: [] })
    expect(wrong).not.toHaveProperty('money_moved_wrongly')
  })

  test('do not count money again that was paid twice', () => {
    const run = { exchanges: [lost('a'), transfer({ key: 'b', at: 50 })], booked: [booked('a'), booked('b')] }
    const { outcomes: all } = judged({ ...run, rows: [row()] })
    expect(all.map(({ outcome }) => outcome)).toEqual(['paid_twice', 'wrong_books', 'told'])
    expect(all.filter((one) => one.money_moved_wrongly)).toHaveLength(1)
  })

  test('count money that they miss beside what was paid twice', () => {
    const run = { exchanges: [lost('a'), lost('b', 50), transfer({ key: 'c', at: 100 })] }
    const { outcomes: all } = judged({ ...run, booked: [booked('a'), booked('b'), booked('c')], rows: [] })
    expect(all.filter(({ outcome }) => outcome === 'paid_twice')).toHaveLength(2)
    expect(all.filter((one) => one.money_moved_wrongly)).toHaveLength(3)
  })

  test('of a balance are one outcome for the place, with the sum that they miss', () => {
    const run = { exchanges: [lost('a'), transfer({ key: 'b', at: 50 })], booked: [booked('b')] }
    const { outcomes: all } = judged({ ...run, balances: [] })
    expect(all.map(({ outcome }) => outcome)).toEqual(['wrong_books', 'told'])
    expect(all[0]).toMatchObject({ money_moved_wrongly: { amount_minor: '250000000' } })
  })

  test('of one end user clear the others', () => {
    const bob = { ...transfer({ key: 'b', at: 50, ...UNAVAILABLE }), external_id: 'bob' }
    const run = { exchanges: [lost('a'), bob], booked: [booked('a')], rows: [row({ state: 'failed' as const })] }
    expect(outcomes(run)).toEqual(['wrong_books critical', 'booked ok'])
  })

  test('of somebody leave what was never asked for as it is', () => {
    const run = { ...failed, sibling: sibling({ made: [made(2)] }) }
    expect(outcomes(run)).toEqual(['wrong_books critical', 'not_asked_for review'])
  })
})

test('books that lag are a warning, and clear nothing of that operation', () => {
  const told = { exchanges: [transfer({ key: 'a' })], booked: [booked('a')], rows: [row({ state: 'open' as const })] }
  expect(outcomes(told)).toEqual(['books_lag warning', 'told ok'])
  expect(judged(told).said.verdict).toBe('lag')
  expect(outcomes({ exchanges: [refused], rows: [row({ state: 'open' })] })).toEqual(['books_lag warning'])
})

test('after a reset nothing is compared', () => {
  const run = { exchanges: [], rows: [row()], forgotten: { room: 0, deleted: 0, reset: 2 } }
  expect(outcomes(run)).toEqual(['forgotten inconclusive'])
  expect(judged(run).said).toMatchObject({ verdict: 'unusable', sentence: expect.stringContaining('was reset') })
})

test.each<[string, Booked]>([
  [
    'Your books are right: 3 transfers (1 done, 1 failed, 1 open).',
    {
      exchanges: [transfer({ key: 'a' })],
      booked: [booked('a')],
      rows: [row(), row({ state: 'failed', amount_minor: '1' }), row({ state: 'open', amount_minor: '2' })],
    },
  ],
  ['Your books are right: 0 transfers.', { exchanges: [], rows: [] }],
  [
    'Your books are right: 0 transfers, 1 balance.',
    { exchanges: [], rows: [], balances: [{ external_id: 'alice', pool_id: 'p', principal_minor: '0' }] },
  ],
  ['Your books are wrong in one place: 1 transfer (1 done).', { exchanges: [], rows: [row()] }],
  ['Your books are wrong in 2 places: 2 transfers (2 done).', { exchanges: [], rows: [row(), row()] }],
  [
    'Your books lag: one transfer is still open although your client was told (1 transfer (1 open)).',
    { exchanges: [transfer({ key: 'a' })], booked: [booked('a')], rows: [row({ state: 'open' })] },
  ],
])('%s', (sentence, run) => {
  expect(judged(run).said.sentence).toBe(sentence)
})
