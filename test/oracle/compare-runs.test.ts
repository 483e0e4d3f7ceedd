import { describe, expect, test } from 'vitest'
import { siblingOf } from '../../src/oracle/sibling.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { exchange } from '../verdict/exchange.ts'
import { booked, judged, LOST, list, made, outcomes, PORTFOLIO, sibling, transfer } from './story.ts'

const OTHER = { ...PORTFOLIO, portfolio_id: 'jar_2', pool_id: 'morpho-usdc' }
const taken = (key: string, at: number, parts: object = {}) => transfer({ key, at, operation: 'withdraw', ...parts })

describe('beside an unharmed run', () => {
  test('nothing is said of a run that does the same', () => {
    expect(outcomes([transfer({ key: 'a' })], [booked('a')], { sibling: sibling() })).toEqual(['told ok'])
  })

  test('paid twice: the same amount more often, whatever the answers were', () => {
    const story = [transfer({ key: 'a' }), transfer({ key: 'b', at: 50 })]
    const all = judged(story, [booked('a'), booked('b')], { sibling: sibling() })
    expect(all.map(({ outcome, level }) => `${outcome} ${level}`)).toEqual([
      'paid_twice critical',
      'told ok',
      'told ok',
    ])
    expect(all[0]?.sentence).toContain('If your test runner repeats failed tests, switch that off.')
  })

  test('what is paid twice for want of an answer is not said a second time', () => {
    const story = [transfer({ key: 'a', ...LOST }), transfer({ key: 'b', at: 50 })]
    expect(outcomes(story, [booked('a'), booked('b')], { sibling: sibling() })).toEqual([
      'paid_twice critical',
      'told ok',
    ])
  })

  test('a withdrawal that a killed client makes once more is paid twice; otherwise it may take back a deposit', () => {
    const story = [transfer({ key: 'a' }), taken('b', 50), taken('c', 90)]
    const ledger = [booked('a'), booked('b', { type: 'withdraw' }), booked('c', { type: 'withdraw' })]
    const unharmed = sibling({ made: [made(), made(1, { type: 'withdraw' })] })
    expect(outcomes(story, ledger, { sibling: unharmed })[0]).toBe('taken_back warning')
    expect(outcomes(story, ledger, { sibling: unharmed, starts: [2] })[0]).toBe('paid_twice critical')
    // Of an amount that the run without a kill has not, it is something else: the client put a deposit back.
    const other = sibling({ made: [made(), made(1, { type: 'withdraw', amount_minor: '3' })] })
    expect(outcomes(story.slice(0, 2), ledger.slice(0, 2), { sibling: other, starts: [2] })).not.toContain(
      'paid_twice critical',
    )
  })

  test('of two that were paid twice, a third is one more', () => {
    const story = [transfer({ key: 'a', ...LOST }), transfer({ key: 'b', at: 50 }), transfer({ key: 'c', at: 90 })]
    const all = [booked('a'), booked('b'), booked('c')]
    expect(outcomes(story, all, { sibling: sibling() }).filter((one) => one.startsWith('paid_twice'))).toHaveLength(2)
  })

  test('never asked for: the command ended well; stopped: it did not', () => {
    const unharmed = sibling({ made: [made(), made(1, { amount_minor: '7' })] })
    const story = [transfer({ key: 'a' })]
    expect(outcomes(story, [booked('a')], { sibling: unharmed })).toEqual(['not_asked_for review', 'told ok'])
    expect(outcomes(story, [booked('a')], { sibling: unharmed, end: 'failed' })).toEqual(['stopped warning', 'told ok'])
  })

  test('one that was asked for and refused is not one that was never asked for', () => {
    const response = { status: 422, code: 'transaction_reverted' }
    expect(outcomes([transfer({ key: 'a', response })], [], { sibling: sibling() })).toEqual(['refused note'])
    const vague = transfer({ key: 'a', ...LOST, request: { body: null } })
    expect(outcomes([vague], [], { sibling: sibling() })).toEqual(['gave_up warning'])
  })

  test('another amount in the place of the one that is missing', () => {
    const story = [transfer({ key: 'a', amount: '7' })]
    const ledger = [booked('a', { amount_minor: '7' })]
    expect(outcomes(story, ledger, { sibling: sibling() })).toEqual(['another_amount review', 'told ok'])
    expect(
      outcomes(story, ledger, { sibling: sibling({ made: [made(1, { amount_minor: null })], amounts: false }) }),
    ).toEqual(['told ok'])
  })

  test('another amount is one of the same end user, pool and type', () => {
    const ledger = [booked('w', { type: 'withdraw', amount_minor: '7' })]
    expect(outcomes([taken('w', 0, { amount: '7' })], ledger, { sibling: sibling() })).toEqual([
      'took_out_unpaid critical',
      'not_asked_for review',
      'told ok',
    ])
  })

  test('taken back: what was put in and known of; took out: what never was', () => {
    const back = taken('w', 90)
    const withdrawal = booked('w', { type: 'withdraw' })
    const lost = transfer({ key: 'a', ...LOST })
    const unharmed = { sibling: sibling() }
    expect(outcomes([lost, list(40, ['0xa']), back], [booked('a'), withdrawal], unharmed)).toEqual([
      'taken_back warning',
      'found ok',
      'told ok',
    ])
    expect(outcomes([lost, back], [withdrawal], unharmed)).toEqual([
      'took_out_unpaid critical',
      'gave_up warning',
      'told ok',
    ])
    expect(outcomes([lost, back], [booked('a'), withdrawal], unharmed)[0]).toBe('took_out_unpaid critical')
  })

  test('an order that was never carried out is not taken back from a larger one', () => {
    const small = { amount: '5' }
    const larger = transfer({ key: 'a' })
    const never = transfer({ key: 'b', at: 40, ...small, ...LOST })
    const back = taken('w', 90, small)
    const out = booked('w', { type: 'withdraw', amount_minor: '5' })
    const unharmed = { sibling: sibling({ made: [made(), made(1, { amount_minor: '5' })] }) }
    expect(outcomes([larger, never, back], [booked('a'), out], unharmed)[0]).toBe('took_out_unpaid critical')
    const like = transfer({ key: 'c', at: 60, ...small })
    const ledger = [booked('a'), booked('c', { amount_minor: '5' }), out]
    expect(outcomes([larger, never, like, back], ledger, unharmed)).toContain('taken_back warning')
  })

  test('a part of a deposit is taken back', () => {
    const back = taken('w', 90, { amount: '5' })
    const ledger = [booked('a'), booked('w', { type: 'withdraw', amount_minor: '5' })]
    expect(outcomes([transfer({ key: 'a' }), back], ledger, { sibling: sibling() })[0]).toBe('taken_back warning')
  })

  test('taken back only by the same end user, from the same pool, afterwards, and no more than was put in', () => {
    const withdrawal = booked('w', { type: 'withdraw' })
    const first = (paid: ReturnType<typeof transfer>, parts: Parameters<typeof booked>[1] = {}) =>
      outcomes([paid, taken('w', 90)], [booked('a', parts), withdrawal], {
        sibling: sibling({ made: [] }),
        ledger: { transfers: [booked('a', parts), withdrawal], under_way: [], portfolios: [PORTFOLIO, OTHER] },
      }).find((one) => one.startsWith('ta') || one.startsWith('took'))
    expect(first(transfer({ key: 'a' }))).toBe('taken_back warning')
    expect(first(transfer({ key: 'a', at: 90 }))).toBe('taken_back warning')
    expect(first(transfer({ key: 'a', at: 91 }))).toBe('took_out_unpaid critical')
    expect(first(transfer({ key: 'a', external_id: 'bob' }), { external_id: 'bob' })).toBe('took_out_unpaid critical')
    expect(first(transfer({ key: 'a', portfolio: 'jar_2' }), { portfolio_id: 'jar_2' })).toBe(
      'took_out_unpaid critical',
    )
    expect(first(transfer({ key: 'a', amount: '5' }), { amount_minor: '5' })).toBe('took_out_unpaid critical')
  })

  test('an amount that is none proves nothing: the attempt with it was refused', () => {
    const refused = { response: { status: 400, code: 'validation_error' } }
    const story = [
      transfer({ key: 'a', amount: '2.5', idempotency: { key: 'a', use: 'unused' }, ...refused }),
      transfer({ key: 'a', at: 40 }),
      taken('w', 90, { amount: 'all', idempotency: { key: 'w', use: 'unused' }, ...refused }),
      taken('w', 120),
    ]
    const ledger = [booked('a'), booked('w', { type: 'withdraw' })]
    expect(outcomes(story, ledger, { sibling: sibling({ made: [] }) })).toContain('taken_back warning')
    const right = [transfer({ key: 'a' }), ...story.slice(2)]
    expect(outcomes(right, ledger, { sibling: sibling({ made: [] }) })).toContain('taken_back warning')
  })

  test('more often in the place of another that is missing: paid twice, and never asked for', () => {
    const unharmed = sibling({ made: [made(), made(1, { amount_minor: '7' })] })
    const story = [transfer({ key: 'a' }), transfer({ key: 'b', at: 50 })]
    expect(outcomes(story, [booked('a'), booked('b')], { sibling: unharmed }).slice(0, 2)).toEqual([
      'paid_twice critical',
      'not_asked_for review',
    ])
  })

  test('the last ones are those too many, unless it is known that they were paid twice', () => {
    const story = [transfer({ key: 'c' }), transfer({ key: 'a', at: 50, ...LOST }), transfer({ key: 'b', at: 90 })]
    const all = judged(story, [booked('a'), booked('b'), booked('c')], { sibling: sibling({ made: [] }) })
    const keysOf = (id: string) =>
      all.filter(({ outcome }) => outcome === id).map(({ idempotency_key }) => idempotency_key)
    expect(keysOf('paid_twice')).toEqual(['a'])
    expect(keysOf('another_amount')).toEqual(['c', 'b'])
  })

  test('one of which no request is left counts as well', () => {
    expect(outcomes([transfer({ key: 'a' })], [booked('a'), booked('b')], { sibling: sibling() })).toEqual([
      'paid_twice critical',
      'told ok',
    ])
  })

  test('a portfolio that was made more often, whatever the answers were', () => {
    const make = (key: string, at: number) =>
      exchange({ operation: 'create_portfolio', at, idempotency: { key, use: 'first' } })
    const portfolios = ['a', 'b'].map((key) => ({ ...PORTFOLIO, portfolio_id: `jar_${key}`, key }))
    const ledger = { transfers: [], under_way: [], portfolios }
    const unharmed = sibling({ made: [made(1, { type: 'create_portfolio', amount_minor: null })] })
    const all = judged([make('a', 0), make('b', 50)], [], { sibling: unharmed, ledger })
    expect(all[0]).toMatchObject({ outcome: 'made_twice', level: 'serious', idempotency_key: 'b' })
  })

  describe('an operation of which no request says enough may be the one that is missing', () => {
    const missing = (body: object | null, parts: object = {}, unharmed = sibling()) => {
      const text = body && JSON.stringify(body)
      const vague = transfer({ key: 'v', ...LOST, ...parts, request: { body: text } })
      return outcomes([vague], [], { sibling: unharmed }).includes('not_asked_for review')
    }

    test('if it lacks the amount, or is in a portfolio that nobody knows', () => {
      expect(missing(null)).toBe(false)
      expect(missing({ portfolio_id: 'jar_1' })).toBe(false)
      expect(missing({ portfolio_id: 'jar_9', amount_minor: '250000000' })).toBe(false)
      expect(missing({ portfolio_id: 'jar_1', amount_minor: '7' })).toBe(true)
    })

    test('if it is of the same end user and type', () => {
      expect(missing(null, { external_id: 'bob' })).toBe(true)
      expect(missing(null, { operation: 'withdraw' })).toBe(true)
    })

    test('and counts once where amounts are not compared', () => {
      const two = sibling({ made: [made(2, { amount_minor: null })], amounts: false })
      expect(missing({ portfolio_id: 'jar_1', amount_minor: '7' }, {}, two)).toBe(true)
    })
  })

  test('names whose operation was never asked for, where the name is one of every run', () => {
    const [first] = judged([transfer({ key: 'a', amount: '7', ...LOST })], [], {
      sibling: sibling({ made: [made(), made(1, { amount_minor: '7' })] }),
    })
    expect(first).toMatchObject({ tenant: 'acme', external_id: 'alice', amount_minor: '250000000', request_ids: [] })
    expect(first?.sentence).toBe("alice's deposit of 250.00 USDC was never asked for, and your command ended well.")
    const others = sibling({ whoIs: () => 'others', made: [made(1, { who: 'others', amount_minor: '9' })] })
    const [nobody] = judged([transfer({ key: 'a', amount: '7', tenant: 'globex', ...LOST })], [], { sibling: others })
    expect(nobody).toMatchObject({ outcome: 'not_asked_for', tenant: 'globex', external_id: null })
    const elsewhere = sibling({ whoIs: (_, name) => name ?? '', made: [made(1, { who: 'others', amount_minor: '9' })] })
    const all = judged([transfer({ key: 'a', amount: '7', ...LOST })], [], { sibling: elsewhere })
    expect(all[0]).toMatchObject({ outcome: 'not_asked_for', tenant: null, external_id: null })
  })

  test('what a command that was started once more makes under new keys is no surplus', () => {
    const story = [transfer({ key: 'a' }), transfer({ key: 'b', at: 50 })]
    const evidence = { sibling: sibling(), restarted: 1 }
    expect(outcomes(story, [booked('a'), booked('b')], evidence)).toEqual(['told ok', 'told ok'])
    expect(outcomes(story, [booked('a'), booked('b')], { ...evidence, restarted: 2 })[0]).toBe('paid_twice critical')
  })
})

describe('siblingOf', () => {
  const ledger = (...transfers: ReturnType<typeof booked>[]) => ({ transfers, under_way: [], portfolios: [PORTFOLIO] })
  const run = (...keys: string[]) =>
    evidenceOf([...keys.map((key, i) => transfer({ key, at: i * 50 })), list(900, [])], {
      ledger: ledger(...keys.map((key) => booked(key))),
    })

  test('counts what runs have done, the higher numbers of two', () => {
    const both = siblingOf([run('a'), run('b', 'c')], { names: new Set(['alice']), amounts: true })
    expect(both.made).toEqual([made(2)])
    expect(both.lists('list_transactions', both.whoIs('acme', 'alice'))).toBe(1)
    expect(both.lists('list_portfolios', both.whoIs('acme', 'alice'))).toBe(0)
    expect(both.key_again).toBe(false)
  })

  test('counts neither what was refused, nor what it had no answer to', () => {
    const response = { status: 422, code: 'transaction_reverted' }
    const portfolios = exchange({ operation: 'list_portfolios', at: 60 })
    const lost = list(90, [], LOST)
    const facts = evidenceOf([transfer({ key: 'a', response }), portfolios, lost], { ledger: ledger() })
    const { made, lists, whoIs } = siblingOf([facts], { names: new Set(['alice']), amounts: true })
    expect(made).toEqual([])
    expect(lists('list_portfolios', whoIs('acme', 'alice'))).toBe(1)
    expect(lists('list_transactions', whoIs('acme', 'alice'))).toBe(0)
  })

  test('end users whose names change are one together', () => {
    const others = siblingOf([run('a')], { names: new Set(), amounts: true })
    expect(others.whoIs('acme', 'alice')).toBe(others.whoIs('acme', 'bob'))
    const two = siblingOf([run('a')], { names: new Set(['alice']), amounts: false })
    expect(two.whoIs('acme', 'alice')).not.toBe(two.whoIs('acme', 'bob'))
    expect(two.made).toEqual([made(1, { amount_minor: null })])
  })

  test('knows whether a key came again', () => {
    const again = [transfer({ key: 'a' }), transfer({ key: 'a', at: 50 })]
    const facts = evidenceOf(again, { ledger: ledger(booked('a')) })
    expect(siblingOf([facts], { names: new Set(), amounts: true }).key_again).toBe(true)
  })
})
