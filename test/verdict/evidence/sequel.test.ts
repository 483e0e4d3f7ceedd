import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { timelinesOf } from '../../../src/verdict/evidence/timelines.ts'
import { asksTheSame, sequelOf } from '../../../src/verdict/evidence/uncertain-transfers.ts'
import { evidenceOf } from '../evidence.ts'
import { carriedOut, DROPPED, key, list, portfolio, transfer, UNREAD } from '../requests.ts'

/** What came of the first of these. */
function sequel(...exchanges: RecordedExchange[]) {
  const [timeline] = timelinesOf(evidenceOf(exchanges))
  const { kind, ...rest } = sequelOf(timeline!.steps[0]!, timeline!)
  return [kind, 'step' in rest ? rest.step.place : null, 'certain' in rest ? rest.certain : null]
}
const dropped = transfer(1, 0, DROPPED)
const used = (n: number, use: 'joined' | 'replayed') => ({ key: key(n), use })

test.each([
  ['nothing', [dropped], ['nothing', null, null]],
  ['the same under its key, whatever came before', [dropped, transfer(2, 10), transfer(1, 20)], ['repeated', 2, null]],
  ['another body under its key', [dropped, transfer(1, 10, { amount: '7' })], ['nothing', null, null]],
  ['a list', [dropped, list(10), transfer(2, 20)], ['looked_up', 1, null]],
  ['a list without an answer', [dropped, list(10, [], DROPPED), transfer(2, 20)], ['same_again', 2, true]],
  ['the list of portfolios', [dropped, list(10, [], { operation: 'list_portfolios' })], ['nothing', null, null]],
  [
    'that list, for a portfolio',
    [portfolio(1, 0, DROPPED), list(10, [], { operation: 'list_portfolios' })],
    ['looked_up', 1, null],
  ],
  ['the same under another key', [dropped, transfer(2, 10)], ['same_again', 1, true]],
  ['a body that is not on record', [dropped, transfer(2, 10, UNREAD)], ['same_again', 1, false]],
  ['another amount', [dropped, transfer(2, 10, { amount: '7' })], ['another', 1, null]],
  ['the other operation', [dropped, transfer(2, 10, { operation: 'withdraw' })], ['another', 1, null]],
  ['a portfolio', [dropped, portfolio(2, 10)], ['nothing', null, null]],
  ['a deposit after a portfolio', [portfolio(1, 0, DROPPED), transfer(2, 10)], ['nothing', null, null]],
  ['the other operation under its key', [dropped, transfer(1, 10, { operation: 'withdraw' })], ['nothing', null, null]],
  ['a write without a key', [dropped, transfer(2, 10, { idempotency: null })], ['nothing', null, null]],
  ['what joined another one', [dropped, transfer(2, 10, { idempotency: used(2, 'joined') })], ['nothing', null, null]],
  [
    'what got the answer of another one',
    [dropped, transfer(2, 10, { idempotency: used(2, 'replayed') })],
    ['nothing', null, null],
  ],
  [
    'the same under a key that was not looked at',
    [dropped, transfer(2, 10, { idempotency: null, request: { headers: [['Idempotency-Key', key(2)]] } })],
    ['same_again', 1, true],
  ],
  ['the same at the moment of the drop', [dropped, transfer(2, 5)], ['same_again', 1, true]],
  ['what was on its way', [transfer(1, 0, { ...DROPPED, until: 50 }), transfer(2, 10)], ['nothing', null, null]],
])('%s', (_what, exchanges, expected) => {
  expect(sequel(...exchanges)).toEqual(expected)
})

test('transfers of which no body is on record are compared by what was carried out', () => {
  const [one, other] = [transfer(1, 0, UNREAD), transfer(2, 10, UNREAD)]
  const [moved, more] = [carriedOut('tx_a'), carriedOut('tx_b', '2000')]
  expect(asksTheSame(one, other)).toBeUndefined()
  expect(asksTheSame({ ...one, ...moved } as typeof one, { ...other, ...carriedOut('tx_b') } as typeof one)).toBe(true)
  expect(asksTheSame({ ...one, ...moved } as typeof one, { ...other, ...more } as typeof one)).toBe(false)
  const elsewhere = { ...other, transfer: { ...moved.transfer!, portfolio_id: 'jar_2' } }
  expect(asksTheSame({ ...one, ...moved } as typeof one, elsewhere)).toBe(false)
})
