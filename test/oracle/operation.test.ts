import { describe, expect, test } from 'vitest'
import { lastEndOf, operationsOf } from '../../src/oracle/operation.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { exchange } from '../verdict/exchange.ts'
import { booked, LOST, PORTFOLIO, transfer } from './story.ts'

/** Of these requests, where alice has two portfolios of one pool. */
function operations(sent: readonly RecordedExchange[], transfers: readonly ReturnType<typeof booked>[] = []) {
  const portfolios = [PORTFOLIO, { ...PORTFOLIO, portfolio_id: 'jar_2' }]
  return operationsOf(evidenceOf(sent, { ledger: { transfers, under_way: [], portfolios } }))
}
const wishes = (...sent: RecordedExchange[]) => operations(sent).map(({ wish }) => wish)
const bodied = (body: string | null, key = 'a') => transfer({ key, request: { body } })

describe('requests are one operation', () => {
  test('when they have one key, however it is spelt, of one end user of one tenant', () => {
    expect(operations([transfer({ key: 'a' }), transfer({ key: 'A' })])).toHaveLength(1)
    expect(operations([transfer({ key: 'a' }), transfer({ key: 'a', tenant: 'globex' })])).toHaveLength(2)
    expect(operations([transfer({ key: 'a' }), transfer({ key: 'a', external_id: 'bob' })])).toHaveLength(2)
  })

  test('never without a key', () => {
    const without = () => transfer({ key: 'a', idempotency: null })
    expect(operations([without(), without()]).map(({ key }) => key)).toEqual([null, null])
  })

  test('whose tenant is that of the attempt whose token could be read', () => {
    const unread = transfer({ key: 'a', tenant: null })
    expect(operations([unread, transfer({ key: 'a', at: 50 })]).map(({ tenant }) => tenant)).toEqual(['acme'])
    expect(operations([unread]).map(({ tenant }) => tenant)).toEqual([null])
  })
})

describe('the ledger', () => {
  test('has a deposit by its key alone, not by the portfolio that its answer names', () => {
    const answered = transfer({ key: 'a', response: { body: '{"portfolio_id":"jar_1"}' } })
    expect(operations([answered])[0]?.state).toBe('not_done')
  })

  const portfolio = (parts: object) =>
    exchange({ operation: 'create_portfolio', idempotency: { key: 'p', use: 'first' }, ...parts })

  test('has a portfolio whose key is gone by an answer that says it is done, and by no other', () => {
    const body = '{"portfolio_id":"jar_1"}'
    expect(operations([portfolio({ response: { status: 201, body } })])[0]?.state).toBe('done')
    for (const status of [300, 409]) {
      expect(operations([portfolio({ response: { status, body } })])[0]?.state).toBe('not_done')
    }
    expect(operations([portfolio({ response: { status: 201, body: 'no JSON' } })])[0]?.state).toBe('not_done')
  })

  test('has transfers of which no request is left', () => {
    const [known, unknown] = operations([], [booked('a'), booked('b', { portfolio_id: 'jar_9' })])
    expect(known).toMatchObject({ state: 'done', attempts: [], pool_id: 'aave-usdc', transfers: [{ key: 'a' }] })
    expect(unknown).toMatchObject({ state: 'done', pool_id: null, wish: 'jar_9 250000000' })
    expect(known?.wish).toBe('aave-usdc 250000000')
  })
})

describe('what operations ask for', () => {
  test('is the same in two portfolios of one pool, whatever else their bodies say', () => {
    const [one, other] = wishes(transfer({ key: 'a' }), transfer({ key: 'b', portfolio: 'jar_2' }))
    expect(one).toBe(other)
    const note = bodied('{"portfolio_id":"jar_1","amount_minor":"250000000","note":"x"}', 'b')
    expect(wishes(note)).toEqual([one])
  })

  test('is told apart by amount, by pool, and by a portfolio that nobody knows', () => {
    const all = wishes(
      transfer({ key: 'a' }),
      transfer({ key: 'b', amount: '7' }),
      transfer({ key: 'c', portfolio: 'jar_8' }),
      transfer({ key: 'd', portfolio: 'jar_9' }),
    )
    expect(new Set(all).size).toBe(4)
    expect(all).not.toContain(null)
  })

  test.each([
    ['without a body', null],
    ['without an amount', '{"portfolio_id":"jar_1"}'],
    ['without a portfolio', '{"amount_minor":"5"}'],
    ['whose amount is no text', '{"portfolio_id":"jar_1","amount_minor":5}'],
    ['whose body is no JSON', 'amount_minor=5'],
  ])('is not known of one %s', (_, body) => {
    expect(wishes(bodied(body))).toEqual([null])
  })

  test('is not read from a body that was cut, and is read from the first attempt that says it', () => {
    const body = '{"portfolio_id":"jar_1","amount_minor":"5"}'
    expect(wishes(transfer({ key: 'a', request: { body, body_cut: true } }))).toEqual([null])
    expect(wishes(bodied(null), bodied(body))).toEqual(['aave-usdc 5'])
    expect(wishes(bodied('{}'), bodied(body))).toEqual(['aave-usdc 5'])
  })

  test('of new portfolios is their body, in whatever order it is written', () => {
    const made = (body: string | null, key: string) =>
      exchange({ operation: 'create_portfolio', idempotency: { key, use: 'first' }, request: { body } })
    const [one, same, another] = wishes(made('{"a":1,"b":2}', 'a'), made('{"b":2,"a":1}', 'b'), made('{"a":1}', 'c'))
    expect(one).toBe(same)
    expect(another).not.toBe(one)
    expect(wishes(made(null, 'a'))).toEqual([null])
    expect(wishes(made(null, 'a'), made('{"a":1}', 'a'))).toEqual(['{"a":1}'])
  })
})

test('an operation ends with its last attempt, and never while one is open', () => {
  const [first, second] = [transfer({ key: 'a', ...LOST }), transfer({ key: 'a', at: 50 })]
  const endOf = (...sent: RecordedExchange[]) => operations(sent).map(lastEndOf)
  expect(endOf(first, second)).toEqual([55])
  expect(endOf({ ...first, ended: null }, second)).toEqual([Number.POSITIVE_INFINITY])
})
