import { expect, test } from 'vitest'
import { amountScale } from '../../../src/verdict/findings/amount-scale.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, transfer } from '../requests.ts'

const portfolio = (token_decimals: number) => ({
  tenant: 'acme',
  external_id: 'alice',
  portfolio_id: 'jar_1',
  pool_id: 'pool_1',
  token_symbol: 'USDC',
  token_decimals,
  key: null,
})

function judged(exchanges: Parameters<typeof evidenceOf>[0], decimals = 6) {
  const ledger = { transfers: [], under_way: [], portfolios: [portfolio(decimals)] }
  return amountScale.judge(evidenceOf(exchanges, { ledger }))
}
const deposits = (...amounts: unknown[]) => amounts.map((amount, n) => transfer(n, n * 10, { amount }))

test.each([
  ['249999999', 6],
  ['250000001', 6],
  ['19989999', 6],
  ['19989999999999998000', 18],
  ['100000000000000000016', 18],
])('%s with %d decimals looks like floating point', (amount, decimals) => {
  const round = (25n * 10n ** BigInt(decimals)).toString()
  expect(judged(deposits(round, amount), decimals)).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringContaining('floating point'),
    request_ids: { length: 1 },
  })
})

test('deposits that are all below a hundredth of a token look like whole tokens', () => {
  expect(judged(deposits('250', '100'))).toMatchObject({
    outcome: 'needs_review',
    explanation: expect.stringContaining('whole tokens'),
  })
  expect(judged(deposits('250', '100'), 2).outcome).toBe('not_exercised')
})

test('amounts of the usual size pass, small ones beside them as well', () => {
  expect(judged(deposits('250000000', '1', '1234567', '19990000')).outcome).toBe('passed')
  expect(judged(deposits('19990000000000000000', '123456789012345678'), 18).outcome).toBe('passed')
})

test.each([
  ['of withdrawals', [transfer(1, 0, { operation: 'withdraw', amount: '249999999' })]],
  ['that were refused', [transfer(1, 0, { ...answered(422), amount: '250' })]],
  ['that are no digits', deposits('0.5', 250, '', '9'.repeat(200))],
  ['of unknown portfolios', [transfer(1, 0, { request: { body: '{"portfolio_id":"jar_2","amount_minor":"250"}' } })]],
])('amounts %s exercise nothing', (_what, exchanges) => {
  expect(judged(exchanges).outcome).toBe('not_exercised')
})

test('what is a unit above a hundredth looks like floating point; a hundredth itself, or less, does not', () => {
  expect(judged(deposits('10001')).outcome).toBe('needs_review')
  expect(judged(deposits('10000')).outcome).toBe('passed')
  expect(judged(deposits('9999', '250000000')).outcome).toBe('passed')
})

test('a token with four decimals is judged, one with three is not', () => {
  expect([4, 3].map((decimals) => judged(deposits('250000'), decimals).outcome)).toEqual(['passed', 'not_exercised'])
})

test('a portfolio that is not named by a text is unknown', () => {
  const body = '{"portfolio_id":["jar_1"],"amount_minor":"250000000"}'
  expect(judged([transfer(1, 0, { request: { body } })]).outcome).toBe('not_exercised')
})

test('it counts what it judges, and shows two at most', () => {
  const usual = deposits('1', '250000000', '260000000')
  expect(judged(usual)).toEqual({
    outcome: 'passed',
    explanation: '2 of 3 deposits were of a hundredth of a token or more, and none is a unit beside a round amount.',
    request_ids: [usual[1]?.request_id],
  })
  expect(judged(deposits('249999999', '249999998', '249999999', '249999999')).request_ids).toHaveLength(2)
})
