import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atLeastZero, balanceChange, balancesOf, settle } from '../../src/domain/balances.ts'
import type { MinedTransfer } from '../../src/domain/ports/chain.ts'
import type { Portfolio, TransferType } from '../../src/domain/records.ts'
import { portfolio } from '../store/samples.ts'

/** A transfer as it stands in a block. */
function mined(amount: bigint, shares: bigint, value_before: bigint): MinedTransfer {
  return { tx_hash: '0x00', block_number: 1, block_timestamp: 0, status: 'success', amount, shares, value_before }
}

/** A portfolio by its principal, the yield paid out already, and its shares. */
const jar = (deposited: bigint, realized: bigint, shares: bigint) =>
  portfolio('jar_1', { deposited: `${deposited}`, yield_earned_realized: `${realized}`, shares: `${shares}` })

const booked = ({ deposited, yield_earned_realized, shares }: Portfolio) =>
  [deposited, yield_earned_realized, shares].map(BigInt)

test.each<[string, bigint, bigint, bigint, bigint]>([
  ['nothing yet', 100n, 0n, 100n, 0n],
  ['what is worth more than its principal', 100n, 0n, 107n, 7n],
  ['also what was paid out already', 100n, 20n, 107n, 27n],
  ['never less than nothing', 100n, 0n, 99n, 0n],
  ['what was paid out, less what was lost since', 100n, 20n, 95n, 15n],
])('a portfolio has earned %s', (_what, deposited, realized, value, earned) => {
  expect(balancesOf(jar(deposited, realized, 1n), value)).toEqual({
    deposited: `${deposited}`,
    yield_earned: `${earned}`,
    yield_earned_realized: `${realized}`,
    total_balance: `${value}`,
  })
})

describe('after a transfer', () => {
  test.each<[string, TransferType, Portfolio, MinedTransfer, bigint[]]>([
    ['a deposit is principal', 'deposit', jar(0n, 0n, 0n), mined(100n, 90n, 0n), [100n, 0n, 90n]],
    ['so is a second, beside the yield', 'deposit', jar(100n, 5n, 90n), mined(50n, 30n, 150n), [150n, 5n, 120n]],
    ['half of it is half of both', 'withdrawal', jar(100n, 5n, 90n), mined(60n, 45n, 120n), [50n, 15n, 45n]],
    ['all of it leaves nothing', 'withdrawal', jar(100n, 5n, 90n), mined(120n, 90n, 120n), [0n, 25n, 0n]],
    ['all of it, a unit off, as well', 'withdrawal', jar(100n, 0n, 90n), mined(119n, 90n, 120n), [0n, 19n, 0n]],
    ['a fraction of principal stays in', 'withdrawal', jar(100n, 0n, 90n), mined(1n, 1n, 101n), [100n, 1n, 89n]],
    ['a loss is no negative yield', 'withdrawal', jar(100n, 7n, 90n), mined(25n, 45n, 50n), [50n, 7n, 45n]],
    ['of what is worth nothing', 'withdrawal', jar(100n, 7n, 90n), mined(0n, 1n, 0n), [0n, 7n, 89n]],
  ])('%s: %s', (_what, type, before, transfer, after) => {
    expect(booked(settle(before, type, transfer))).toEqual(after)
  })

  test('nothing else about the portfolio has changed', () => {
    const before = jar(100n, 0n, 100n)
    const after = settle(before, 'deposit', mined(1n, 1n, 100n))
    expect({ ...after, deposited: '100', shares: '100' }).toEqual(before)
  })
})

const amount = fc.bigInt({ min: 1n, max: 10n ** 24n })

/** A portfolio with principal and yield, and a transfer that it can make. One share is one unit of worth. */
const anyTransfer = fc
  .record({
    deposited: amount,
    interest: amount,
    realized: amount,
    wanted: amount,
    type: fc.constantFrom<TransferType>('deposit', 'withdrawal'),
  })
  .map(({ deposited, interest, realized, wanted, type }) => {
    const value = deposited + interest
    const moved = type === 'withdrawal' && wanted > value ? value : wanted
    return { type, value, moved, before: jar(deposited, realized, value), transfer: mined(moved, moved, value) }
  })

test('a transfer earns nothing and loses nothing, whatever its amount', () => {
  fc.assert(
    fc.property(anyTransfer, ({ type, value, moved, before, transfer }) => {
      const after = settle(before, type, transfer)
      const left = type === 'deposit' ? value + moved : value - moved
      expect(balancesOf(after, left).yield_earned).toBe(balancesOf(before, value).yield_earned)
      for (const balance of booked(after)) expect(balance).toBeGreaterThanOrEqual(0n)
    }),
  )
})

test('a withdrawal takes principal and yield in proportion, to the unit', () => {
  fc.assert(
    fc.property(anyTransfer, ({ value, moved, before, transfer }) => {
      fc.pre(moved <= value)
      const [deposited = 0n, realized = 0n] = booked(before)
      const [depositedAfter = 0n, realizedAfter = 0n] = booked(settle(before, 'withdrawal', transfer))
      const principal = deposited - depositedAfter
      expect(principal + (realizedAfter - realized)).toBe(moved)
      const roundedOff = deposited * moved - principal * value
      expect(roundedOff >= 0n && roundedOff < value).toBe(true)
    }),
  )
})

test('a record goes from what the one before it left to what the answer shows', () => {
  const before = portfolio('jar_1', { deposited: '100', yield_earned_synced: '7' })
  const after = { deposited: '60', yield_earned: '5', yield_earned_realized: '3', total_balance: '62' }
  expect(balanceChange(before, after)).toEqual({
    yield_delta: '-2',
    deposited_amount_before: '100',
    deposited_amount_after: '60',
    yield_earned_before: '7',
    yield_earned_after: '5',
  })
})

test.each([
  [-1n, 0n],
  [0n, 0n],
  [1n, 1n],
])('of %d, %d is at least zero', (amount, expected) => {
  expect(atLeastZero(amount)).toBe(expected)
})
