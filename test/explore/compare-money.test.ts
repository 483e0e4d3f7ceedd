import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareMoney, holdTheSame, ownedMoney } from '../../src/explore/judge/compare-money.ts'
import { amountInWords } from '../../src/support/quantities.ts'
import { exchange } from '../verdict/exchange.ts'
import { money } from './money.ts'

/** As seen in a run in which these end users appeared in this order; names that stay in the set are the same in every run. */
function owned(users: Record<string, readonly string[]>, stable: readonly string[] = ['alice', 'bob']) {
  const exchanges = Object.keys(users).map((external_id) => exchange({ external_id }))
  return ownedMoney(money(users), exchanges, new Set(stable))
}

describe('the money of a run and that of the unharmed one', () => {
  test('the same: nothing to say', () => {
    expect(compareMoney(owned({ alice: ['deposit 5'] }), owned({ alice: ['deposit 5'] }))).toEqual([])
  })

  test('a deposit made twice', () => {
    expect(
      compareMoney(owned({ alice: ['deposit 1000'] }), owned({ alice: ['deposit 1000', 'deposit 1000'] })),
    ).toEqual(['alice: 2,000.00 USDC in aave-usdc instead of 1,000.00 (deposit of 1,000.00: twice instead of once)'])
  })

  test('the same sum by other transfers', () => {
    const difference = compareMoney(owned({ alice: ['deposit 10'] }), owned({ alice: ['deposit 4', 'deposit 6'] }))
    expect(difference).toEqual([
      'alice: 10.00 USDC in aave-usdc as it should be, but by other ways (deposit of 10.00: never instead of once; deposit of 4.00: once instead of never; deposit of 6.00: once instead of never)',
    ])
  })

  test('one who is not there at all', () => {
    expect(compareMoney(owned({ alice: ['deposit 1'] }), owned({}))[0]).toMatch(
      /^alice: 0\.00 USDC in aave-usdc instead of 1\.00/,
    )
  })

  test('another wallet, though the ledger has the same transfers', () => {
    const taken = owned({ alice: ['deposit 1'] })
    const wallet = taken.named.get('alice')?.wallet[0]
    if (wallet) wallet.balance = '5'
    expect(compareMoney(owned({ alice: ['deposit 1'] }), taken)).toEqual([
      'alice: 0.000005 USDC in the wallet instead of 999,999.00',
    ])
  })

  test('end users whose names change are told apart by their money, then by the order in which they appeared', () => {
    const before = owned({ a1: ['deposit 1'], a2: ['deposit 2'] })
    expect(compareMoney(before, owned({ b2: ['deposit 2'], b1: ['deposit 1'] }))).toEqual([])
    expect(compareMoney(before, owned({ b1: ['deposit 1'], b2: ['deposit 2', 'deposit 2'] }))).toEqual([
      'end user 2: 4.00 USDC in aave-usdc instead of 2.00 (deposit of 2.00: twice instead of once)',
    ])
  })

  test('whom no request was for does not count', () => {
    const seen = ownedMoney(money({ alice: [], zoe: ['deposit 9'] }), [exchange({ external_id: 'alice' })], new Set())
    expect([seen.named.size, seen.unnamed.length]).toEqual([0, 1])
  })

  test('one who is there only in one of the runs has a wallet that nobody compares', () => {
    expect(compareMoney(owned({ alice: [] }), owned({}))).toEqual([])
    expect(compareMoney(owned({}), owned({ alice: [] }))).toEqual([])
    expect(compareMoney(owned({}), owned({ alice: ['deposit 1'] }))).toEqual([
      'alice: 1.00 USDC in aave-usdc instead of 0.00 (deposit of 1.00: once instead of never)',
    ])
  })

  test('an end user without a lasting name who is one too many', () => {
    const before = owned({ a1: ['deposit 1'] }, [])
    expect(compareMoney(before, owned({ b1: ['deposit 1'], b2: ['deposit 3'] }, []))).toEqual([
      'end user 2: 3.00 USDC in aave-usdc instead of 0.00 (deposit of 3.00: once instead of never)',
    ])
    expect(compareMoney(before, owned({}, []))).toHaveLength(1)
  })

  test('transfers and pools of one who has no lasting name are alike in any order; wallets count', () => {
    const ordered = (...pools: string[]) => {
      const all = owned({ a: ['deposit 1', 'withdraw 1'] }, [])
      const [user] = all.unnamed
      if (user) user.pools = pools.map((pool_id) => ({ ...user.pools[0]!, pool_id }))
      return all
    }
    expect(compareMoney(ordered('p', 'q'), ordered('q', 'p'))).toEqual([])
    const swapped = owned({ b: ['withdraw 1', 'deposit 1'], c: ['deposit 2'] }, [])
    expect(compareMoney(owned({ c: ['deposit 2'], a: ['deposit 1', 'withdraw 1'] }, []), swapped)).toEqual([])
    const poor = owned({ a: [] }, [])
    const wallet = poor.unnamed[0]?.wallet[0]
    if (wallet) wallet.balance = '1000000'
    expect(compareMoney(owned({ a: [] }, []), poor)).toEqual([
      'end user 1: 1.00 USDC in the wallet instead of 1,000,000.00',
    ])
  })

  test('each pool, and each token of a wallet on its own chain, with itself', () => {
    const two = (first: string, second: string) => {
      const all = owned({ alice: [first] })
      const user = all.named.get('alice')
      const other = owned({ alice: [second] }).named.get('alice')?.pools[0]
      if (user && other) user.pools.push({ ...other, pool_id: 'morpho-usdc' })
      return all
    }
    expect(compareMoney(two('deposit 1', 'deposit 2'), two('deposit 1', 'deposit 2'))).toEqual([])
    expect(compareMoney(two('deposit 1', 'deposit 2'), two('deposit 1', 'deposit 3'))).toEqual([
      expect.stringMatching(/^alice: 3\.00 USDC in morpho-usdc instead of 2\.00/),
    ])
    const rich = (euros: string, elsewhere: string) => {
      const all = owned({ alice: [] })
      const [token] = all.named.get('alice')?.wallet ?? []
      all.named
        .get('alice')
        ?.wallet.push(
          { ...token!, token_symbol: 'EURC', balance: euros },
          { ...token!, chain_id: '31338', balance: elsewhere },
        )
      return all
    }
    expect(compareMoney(rich('1', '2'), rich('1', '2'))).toEqual([])
    expect(compareMoney(rich('1', '2'), rich('1', '3'))).toHaveLength(1)
    expect(compareMoney(rich('1', '2'), owned({ alice: [] }))).toEqual([])
  })

  const transfers = fc.array(fc.constantFrom('deposit 1', 'deposit 2', 'withdraw 1'), { maxLength: 5 })
  test('differs exactly when somebody has other transfers', () => {
    fc.assert(
      fc.property(
        fc.record({ alice: transfers, bob: transfers }),
        fc.record({ alice: transfers, bob: transfers }),
        (a, b) => {
          const same = (['alice', 'bob'] as const).every((who) => `${[...a[who]].sort()}` === `${[...b[who]].sort()}`)
          expect(compareMoney(owned(a), owned(b)).length === 0).toBe(same)
        },
      ),
    )
  })
})

describe('two runs hold the same money', () => {
  const unit = (count: number) => (count / 1e6).toFixed(6)
  /** One deposit of 5, then withdrawals of so many minor units. */
  const taken = (...withdrawals: number[]) =>
    owned({ alice: ['deposit 5', ...withdrawals.map((amount) => `withdraw ${unit(amount)}`)] })

  test('if each transfer that only one of them has is rounded by no more than a minor unit', () => {
    expect(holdTheSame(taken(3_000_030), taken(3_000_030))).toBe(true)
    for (const less of [27, 28, 29, 30, 31, 32, 33])
      expect(holdTheSame(taken(3_000_030), taken(3_000_000, less))).toBe(true)
    for (const less of [26, 34]) expect(holdTheSame(taken(3_000_030), taken(3_000_000, less))).toBe(false)
    // One withdrawal in place of another: two that only one run has.
    expect([28, 27].map((less) => holdTheSame(taken(30), taken(less)))).toEqual([true, false])
    expect([28, 27].map((less) => holdTheSame(taken(less), taken(30)))).toEqual([true, false])
  })

  test('transfers that both have round nothing, in a pool or in the wallet', () => {
    const [same, poorer] = [taken(10, 20), taken(10, 20)]
    const [token] = poorer.named.get('alice')?.wallet ?? []
    if (token) token.balance = String(BigInt(token.balance) - 1n)
    expect(holdTheSame(same, taken(20, 10))).toBe(true)
    expect(holdTheSame(same, poorer)).toBe(false)
    const more = taken(10, 20)
    const [pool] = more.named.get('alice')?.pools ?? []
    if (pool) pool.principal = String(BigInt(pool.principal) + 1n)
    expect(holdTheSame(same, more)).toBe(false)
  })

  test('a transfer that one of them has more often counts as often as that', () => {
    expect(holdTheSame(taken(1), taken(1, 1))).toBe(true)
    expect(holdTheSame(taken(2), taken(2, 2))).toBe(false)
  })

  test('where a pool is there in one of them only, its transfers round the wallet as well', () => {
    const [without, tiny] = [owned({ alice: [] }), owned({ alice: [`deposit ${unit(1)}`] })]
    without.named.get('alice')?.pools.splice(0)
    expect([holdTheSame(without, tiny), holdTheSame(tiny, without)]).toEqual([true, true])
  })

  test('in each pool', () => {
    const two = (...second: string[]) => {
      const all = owned({ alice: ['deposit 1'] })
      const [other] = owned({ alice: second }).named.get('alice')?.pools ?? []
      if (other) all.named.get('alice')?.pools.push({ ...other, pool_id: 'morpho-usdc' })
      return all
    }
    expect(holdTheSame(two('deposit 1'), two('deposit 1'))).toBe(true)
    expect(holdTheSame(two('deposit 1'), two('deposit 2'))).toBe(false)
  })

  test('the wallet and the pools of each end user by themselves', () => {
    const both = (alice: string[], bob: string[]) => owned({ alice, bob })
    expect(holdTheSame(both(['deposit 1'], ['deposit 2']), both(['deposit 2'], ['deposit 1']))).toBe(false)
    expect(holdTheSame(both(['deposit 1'], ['deposit 2']), both(['deposit 1'], ['deposit 1']))).toBe(false)
    const spent = taken(30)
    const [token] = spent.named.get('alice')?.wallet ?? []
    if (token) token.balance = String(BigInt(token.balance) - 4n)
    expect(holdTheSame(taken(29), spent)).toBe(false)
    if (token) token.token_symbol = 'EURC'
    const euro = taken(29)
    const [other] = euro.named.get('alice')?.wallet ?? []
    if (other && token) Object.assign(other, { token_symbol: 'EURC', balance: String(BigInt(token.balance) + 1n) })
    // Transfers of USDC round no EURC.
    expect(holdTheSame(euro, spent)).toBe(false)
  })

  test('one who is there only in one of the runs must have moved nothing', () => {
    expect(holdTheSame(owned({ alice: [] }), owned({}))).toBe(true)
    expect(holdTheSame(owned({}), owned({ alice: ['deposit 1'] }))).toBe(false)
  })
})

describe('money has an owner', () => {
  const asked = (external_id: string | null, parts: object = {}) => exchange({ external_id, ...parts })
  const users = (...names: [tenant: string, name: string][]) => ({
    users: names.map(([tenant, external_id]) => ({ ...money({ [external_id]: ['deposit 1'] }).users[0]!, tenant })),
  })
  const namesOf = (...args: Parameters<typeof ownedMoney>) => [...ownedMoney(...args).named.keys()]

  test('named with the tenant where several tenants were asked for', () => {
    const both = users(['acme', 'alice'], ['globex', 'alice'])
    const requests = [asked('alice'), asked('alice', { tenant: 'globex' })]
    expect(namesOf(both, requests, new Set(['alice']))).toEqual(['alice (acme)', 'alice (globex)'])
    const { named } = ownedMoney(both, requests, new Set(['alice']))
    expect([...named.values()].map(({ tenant }) => tenant)).toEqual(['acme', 'globex'])
    expect(namesOf(both, [asked('alice')], new Set(['alice']))).toEqual(['alice'])
  })

  test('only if there is such an end user, and a request that is about one', () => {
    expect(namesOf(users(['acme', 'alice']), [asked('bob')], new Set(['bob']))).toEqual([])
    const made = asked('alice', { operation: 'create_end_user' })
    expect(ownedMoney(users(['acme', 'alice']), [made, asked(null)], new Set()).unnamed).toEqual([])
  })

  test('also when no request of this run was for that name of every run, if one tenant alone has it', () => {
    const lasting = new Set(['alice'])
    expect(namesOf(users(['acme', 'bob'], ['acme', 'alice']), [], lasting)).toEqual(['alice'])
    expect(namesOf(users(['acme', 'alice'], ['globex', 'alice']), [], lasting)).toEqual([])
    expect(namesOf(users(['acme', 'bob']), [], lasting)).toEqual([])
    const bob = [asked('bob'), asked('bob', { tenant: 'globex' })]
    expect(namesOf(users(['acme', 'bob'], ['globex', 'alice']), bob, new Set(['bob', 'alice']))).toEqual([
      'bob (acme)',
      'alice',
    ])
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
