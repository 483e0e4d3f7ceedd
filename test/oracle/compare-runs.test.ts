import { describe, expect, test } from 'vitest'
import { siblingOf } from '../../src/oracle/sibling.ts'
import { evidenceOf } from '../verdict/evidence.ts'
import { booked, judged, LOST, list, made, outcomes, PORTFOLIO, sibling, transfer } from './story.ts'

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

  test('a part of a deposit is taken back', () => {
    const back = taken('w', 90, { amount: '5' })
    const ledger = [booked('a'), booked('w', { type: 'withdraw', amount_minor: '5' })]
    expect(outcomes([transfer({ key: 'a' }), back], ledger, { sibling: sibling() })[0]).toBe('taken_back warning')
  })

  test('what a command that was started once more makes under new keys is no surplus', () => {
    const story = [transfer({ key: 'a' }), transfer({ key: 'b', at: 50 })]
    const evidence = { sibling: sibling(), restarted: 1 }
    expect(outcomes(story, [booked('a'), booked('b')], evidence)).toEqual(['told ok', 'told ok'])
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
    expect(both.has).toEqual({ key_again: false, equal_at_once: false })
  })

  test('end users whose names change are one together', () => {
    const others = siblingOf([run('a')], { names: new Set(), amounts: true })
    expect(others.whoIs('acme', 'alice')).toBe(others.whoIs('acme', 'bob'))
    const two = siblingOf([run('a')], { names: new Set(['alice']), amounts: false })
    expect(two.whoIs('acme', 'alice')).not.toBe(two.whoIs('acme', 'bob'))
    expect(two.made).toEqual([made(1, { amount_minor: null })])
  })

  test('knows whether a key came again, or equal ones were in flight at once', () => {
    const again = [transfer({ key: 'a' }), transfer({ key: 'a', at: 50 })]
    const facts = evidenceOf(again, { ledger: ledger(booked('a')) })
    expect(siblingOf([facts], { names: new Set(), amounts: true }).has.key_again).toBe(true)
    const atOnce = [transfer({ key: 'a', until: 90 }), transfer({ key: 'b', at: 20, until: 100 })]
    const pair = evidenceOf(atOnce, { ledger: ledger(booked('a'), booked('b')) })
    expect(siblingOf([pair], { names: new Set(), amounts: true }).has.equal_at_once).toBe(true)
  })
})
