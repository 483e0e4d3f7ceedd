import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareMoney } from '../../src/explore/judge/compare-money.ts'
import { ownedMoney } from '../../src/explore/judge/owned-money.ts'
import { amountInWords } from '../../src/support/amount-in-words.ts'
import { exchange } from '../verdict/exchange.ts'
import { money } from './money.ts'

/** As seen in a run in which these end users appeared in this order; names that stay in the set are the same in every run. */
function owned(users: Record<string, readonly string[]>, stable: readonly string[] = ['alice', 'bob']) {
  const exchanges = Object.keys(users).map((external_id) => exchange({ external_id }))
  return ownedMoney(money(users), exchanges, new Set(stable))
}

describe('the money of a run and that of the unharmed one', () => {
  test('the same: nothing to say', () => {
    expect(compareMoney(owned({ alice: ['deposit 5'] }), owned({ alice: ['deposit 5'] }))).toBeUndefined()
  })

  test('a deposit made twice', () => {
    expect(
      compareMoney(owned({ alice: ['deposit 1000'] }), owned({ alice: ['deposit 1000', 'deposit 1000'] })),
    ).toEqual({
      sentences: ['alice: 2,000.00 USDC in aave-usdc instead of 1,000.00 (deposit of 1,000.00: twice instead of once)'],
      stopped: false,
    })
  })

  test('a run that stopped has the first transfers and no others', () => {
    const whole = owned({ alice: ['deposit 5', 'deposit 7', 'withdraw 3'] })
    const stopped = (transfers: readonly string[]) => compareMoney(whole, owned({ alice: transfers }))?.stopped
    expect(stopped([])).toBe(true)
    expect(stopped(['deposit 5', 'deposit 7'])).toBe(true)
    expect(stopped(['deposit 7', 'withdraw 3'])).toBe(false)
    expect(stopped(['deposit 6'])).toBe(false)
  })

  test('the same sum by other transfers', () => {
    const difference = compareMoney(owned({ alice: ['deposit 10'] }), owned({ alice: ['deposit 4', 'deposit 6'] }))
    expect(difference?.sentences).toEqual([
      'alice: 10.00 USDC in aave-usdc as it should be, but by other ways (deposit of 10.00: never instead of once; deposit of 4.00: once instead of never; deposit of 6.00: once instead of never)',
    ])
  })

  test('one who is not there at all', () => {
    expect(compareMoney(owned({ alice: ['deposit 1'] }), owned({}))?.sentences[0]).toMatch(
      /^alice: 0\.00 USDC in aave-usdc instead of 1\.00/,
    )
  })

  test('another wallet, though the ledger has the same transfers', () => {
    const taken = owned({ alice: ['deposit 1'] })
    const wallet = taken.named.get('alice')?.wallet[0]
    if (wallet) wallet.balance = '5'
    expect(compareMoney(owned({ alice: ['deposit 1'] }), taken)?.sentences).toEqual([
      'alice: 0.000005 USDC in the wallet instead of 999,999.00',
    ])
  })

  test('end users whose names change are told apart by their money, then by the order in which they appeared', () => {
    const before = owned({ a1: ['deposit 1'], a2: ['deposit 2'] })
    expect(compareMoney(before, owned({ b2: ['deposit 2'], b1: ['deposit 1'] }))).toBeUndefined()
    expect(compareMoney(before, owned({ b1: ['deposit 1'], b2: ['deposit 2', 'deposit 2'] }))?.sentences).toEqual([
      'end user 2: 4.00 USDC in aave-usdc instead of 2.00 (deposit of 2.00: twice instead of once)',
    ])
  })

  test('whom no request was for does not count', () => {
    const seen = ownedMoney(money({ alice: [], zoe: ['deposit 9'] }), [exchange({ external_id: 'alice' })], new Set())
    expect([seen.named.size, seen.unnamed.length]).toEqual([0, 1])
  })

  const transfers = fc.array(fc.constantFrom('deposit 1', 'deposit 2', 'withdraw 1'), { maxLength: 5 })
  test('differs exactly when somebody has other transfers', () => {
    fc.assert(
      fc.property(
        fc.record({ alice: transfers, bob: transfers }),
        fc.record({ alice: transfers, bob: transfers }),
        (a, b) => {
          const same = (['alice', 'bob'] as const).every((who) => `${[...a[who]].sort()}` === `${[...b[who]].sort()}`)
          expect(compareMoney(owned(a), owned(b)) === undefined).toBe(same)
        },
      ),
    )
  })
})

test.each([
  [0n, 6, '0.00'],
  [1n, 6, '0.000001'],
  [1_000_000n, 6, '1.00'],
  [2_000_000_000n, 6, '2,000.00'],
  [-1_234_567_890n, 6, '−1,234.56789'],
  [5n, 0, '5'],
  [123n, 1, '12.3'],
  [10n ** 24n, 18, '1,000,000.00'],
])('%s with %s decimals is %s', (minor, decimals, words) => {
  expect(amountInWords(minor, decimals)).toBe(words)
})
