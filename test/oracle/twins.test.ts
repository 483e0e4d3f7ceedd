import { describe, expect, test } from 'vitest'
import type { ExchangeParts } from '../verdict/exchange.ts'
import { booked, LOST, list, made, outcomes, sibling, transfer } from './story.ts'

const TWIN = '127.0.0.2:4010'
/** A request of the first or the second process. */
const by = (host: string): ExchangeParts => ({ request: { headers: [['Host', host]] } })
const [FIRST, SECOND] = [by('127.0.0.1:4010'), by(TWIN)]
const beside = { sibling: sibling(), twin: TWIN }

describe('where two processes ran at once', () => {
  test('what both of them carried out was paid twice, without an answer that was lost', () => {
    const story = [transfer({ key: 'a', ...FIRST }), transfer({ key: 'b', at: 50, ...SECOND })]
    expect(outcomes(story, [booked('a'), booked('b')], beside)).toEqual(['paid_twice critical', 'told ok', 'told ok'])
  })

  test('so was a withdrawal, which takes nothing back', () => {
    const withdrawal = { operation: 'withdraw' as const, amount: '5' }
    const story = [
      transfer({ key: 'd', ...FIRST }),
      transfer({ key: 'a', at: 50, ...withdrawal, ...FIRST }),
      transfer({ key: 'b', at: 90, ...withdrawal, ...SECOND }),
    ]
    const taken = ['a', 'b'].map((key) => booked(key, { type: 'withdraw', amount_minor: '5' }))
    const unharmed = sibling({ made: [made(), made(1, { type: 'withdraw', amount_minor: '5' })] })
    expect(outcomes(story, [booked('d'), ...taken], { sibling: unharmed, twin: TWIN })[0]).toBe('paid_twice critical')
  })

  test('two equal ones in flight at once are no purpose of a suite', () => {
    const story = [
      transfer({ key: 'a', at: 0, until: 100, ...FIRST }),
      transfer({ key: 'b', at: 20, until: 120, ...SECOND }),
    ]
    const ledger = [booked('a'), booked('b')]
    expect(outcomes(story, ledger, beside)).toContain('equal_at_once critical')
    expect(outcomes(story, ledger, { sibling: sibling() })).toContain('equal_at_once review')
    expect(outcomes(story, ledger, { ...beside, sibling: sibling({ made: [made(2)] }) })).toEqual([
      'told ok',
      'told ok',
    ])
  })

  test('the key that the other process sends again does what it is for', () => {
    const again = (parts: ExchangeParts) => [
      transfer({ key: 'a', ...FIRST }),
      list(50, [], FIRST),
      transfer({ key: 'a', at: 90, ...parts, idempotency: { key: 'a', use: 'replayed' } }),
    ]
    expect(outcomes(again(SECOND), [booked('a')], beside)).toEqual(['told ok'])
    expect(outcomes(again(FIRST), [booked('a')], beside)).toEqual(['key_again review', 'told ok'])
  })

  test('a list that the other process asks for is not asked for because of a lost answer', () => {
    const story = (parts: ExchangeParts) => [
      transfer({ key: 'a', ...LOST, ...FIRST }),
      list(50, ['0xa'], FIRST),
      list(90, ['0xa'], parts),
    ]
    const one = { twin: TWIN, sibling: sibling({ lists: () => 1 }) }
    expect(outcomes(story(SECOND), [booked('a')], one)).toEqual(['perhaps_told review'])
    expect(outcomes(story(FIRST), [booked('a')], one)).toEqual(['found ok'])
  })
})
