import { describe, expect, test } from 'vitest'
import {
  type AuditEvidence,
  type AuditFinding,
  checkBalances,
  checkHashes,
  checkIdempotency,
  checkPrincipal,
  checkShares,
  checkWallets,
  type Holding,
} from '../../src/domain/audit-checks.ts'
import { balancesOf } from '../../src/domain/balances.ts'
import type { Portfolio, Transaction } from '../../src/domain/records.ts'
import { moment, portfolio, transaction } from '../store/samples.ts'

const TTL = 1000

const deposit = transaction('txn_1', {
  amount_changed: '100',
  deposited_amount_after: '100',
  tx_hash: '0x01',
  idempotency_id: 'key_1',
})
const harvest = transaction('txn_2', {
  type: 'yield_harvest',
  amount_changed: '10',
  yield_delta: '10',
  deposited_amount_before: '100',
  deposited_amount_after: '100',
  yield_earned_after: '10',
  tx_hash: '0x03',
})
const withdrawal = transaction('txn_3', {
  type: 'withdrawal',
  amount_changed: '55',
  yield_delta: '2',
  deposited_amount_before: '100',
  deposited_amount_after: '50',
  yield_earned_before: '10',
  yield_earned_after: '12',
  tx_hash: '0x03',
  idempotency_id: 'key_3',
})
const history = [deposit, harvest, withdrawal]

/** What these three transactions made. */
const jar = portfolio('jar_1', {
  deposited: '50',
  yield_earned_realized: '5',
  yield_earned_synced: '12',
  shares: '40',
})

function holding(portfolios: readonly Portfolio[], values: readonly bigint[], changes: Partial<Holding> = {}): Holding {
  return {
    pool_id: 'pool_1',
    portfolios,
    shares: portfolios.reduce((sum, { shares }) => sum + BigInt(shares), 0n),
    shown: portfolios.map((portfolio, i) => ({ portfolio, balances: balancesOf(portfolio, values[i] ?? 0n) })),
    worth: values.reduce((sum, value) => sum + value, 0n),
    ...changes,
  }
}

/** Ledger and chain on alice, with nothing wrong but the changes; transactions are given oldest first. */
function evidence({
  oldestFirst = history,
  ...changes
}: Partial<AuditEvidence> & { oldestFirst?: Transaction[] } = {}): AuditEvidence {
  return {
    name: 'alice (acme)',
    portfolios: [jar],
    transactions: oldestFirst.toReversed(),
    holdings: [holding([jar], [57n])],
    balances: [{ token_symbol: 'USDC', funded: 1000n, spent: 45n, balance: 955n }],
    outcomes: new Map([
      ['0x01', 'success'],
      ['0x03', 'success'],
    ]),
    ...changes,
  }
}

const fine = (compared: number): AuditFinding => expect.objectContaining({ compared, offences: [] })
const gift = (...gifts: string[]) => expect.objectContaining({ offences: [], gifts })
const offence = (...offences: string[]) => expect.objectContaining({ offences })

test('nothing is wrong with books that agree with the chain', () => {
  expect(checkShares(evidence())).toEqual(fine(1))
  expect(checkPrincipal(evidence())).toEqual(fine(1))
  expect(checkBalances(evidence())).toEqual(fine(1))
  expect(checkWallets(evidence())).toEqual(fine(1))
  expect(checkHashes(evidence())).toEqual(fine(3))
  expect(checkIdempotency(evidence(), TTL)).toEqual(fine(2))
})

describe('shares', () => {
  const [some, none, less] = ['51', '0', '-1'].map((shares, i) => portfolio(`jar_${i}`, { shares })) as [
    Portfolio,
    Portfolio,
    Portfolio,
  ]

  test('add up to what the wallet holds', () => {
    const of = (...holdings: Holding[]) => checkShares(evidence({ holdings }))
    expect(of(holding([some, none], []), holding([], []))).toEqual(fine(2))
    expect(of(holding([some, none], [], { shares: 50n }))).toEqual(
      offence('alice (acme) in pool_1 has 51 shares in the ledger, 50 on chain'),
    )
  })

  test('that somebody gave to the wallet are named, and are nothing wrong', () => {
    const of = (...holdings: Holding[]) => checkShares(evidence({ holdings }))
    expect(of(holding([some, none], []))).toEqual(gift())
    expect(of(holding([some], [], { shares: 53n }))).toEqual(gift('2 shares in pool_1 to the wallet of alice (acme)'))
    expect(of(holding([], [], { shares: 1n }))).toEqual(gift('1 shares in pool_1 to the wallet of alice (acme)'))
  })

  test('are never less than none, even if they add up', () => {
    const negative = 'jar_2 of alice (acme) has -1 shares'
    expect(checkShares(evidence({ holdings: [holding([some, less], [])] }))).toEqual(offence(negative))
    expect(checkShares(evidence({ holdings: [holding([some, less], [], { shares: 49n })] }))).toEqual(
      offence(negative, 'alice (acme) in pool_1 has 50 shares in the ledger, 49 on chain'),
    )
  })
})

describe('the history of a portfolio', () => {
  /** The history with one transaction changed. */
  const but = (changed: Transaction, changes: Partial<Transaction>) => ({
    oldestFirst: history.map((one) => (one === changed ? { ...one, ...changes } : one)),
  })
  const portfolioBut = (changes: Partial<Portfolio>) => ({ portfolios: [{ ...jar, ...changes }] })

  test.each<[string, Parameters<typeof evidence>[0], string]>([
    [
      'a gap in the principal',
      but(withdrawal, { deposited_amount_before: '99' }),
      'txn_3 begins with a principal other than 100',
    ],
    ['a gap in the yield', but(withdrawal, { yield_earned_before: '9' }), 'txn_3 begins with a yield other than 10'],
    ['another yield_delta', but(withdrawal, { yield_delta: '3' }), 'txn_3 has another yield_delta'],
    [
      'a deposit of less',
      but(deposit, { amount_changed: '99' }),
      'txn_1 changes the principal from 0 to 100 by a deposit of 99',
    ],
    [
      'a withdrawal that adds principal',
      but(withdrawal, { deposited_amount_after: '101' }),
      'txn_3 changes the principal from 100 to 101 by a withdrawal of 55',
    ],
    [
      'a harvest that takes principal',
      but(harvest, { deposited_amount_after: '99' }),
      'txn_2 changes the principal from 100 to 99 by a yield_harvest of 10',
    ],
    ['a harvest of more', but(harvest, { amount_changed: '11' }), 'txn_2 is of another amount than its yield_delta'],
    ['a harvest by another hash', but(harvest, { tx_hash: '0x02' }), 'txn_2 is not followed by the transfer it names'],
    ['a harvest at the end', { oldestFirst: [deposit, harvest] }, 'txn_2 is not followed by the transfer it names'],
    [
      'a harvest before a harvest',
      but(withdrawal, { type: 'yield_harvest', deposited_amount_after: '100', amount_changed: '2' }),
      'txn_2 is not followed by the transfer it names',
    ],
    ['more principal', portfolioBut({ deposited: '51' }), 'deposited is 51, by its transactions 50'],
    [
      'less principal than none',
      {
        ...but(withdrawal, { amount_changed: '105', deposited_amount_after: '-5' }),
        ...portfolioBut({ deposited: '-5', yield_earned_realized: '0' }),
      },
      'deposited is -5, by its transactions -5',
    ],
    ['another yield', portfolioBut({ yield_earned_synced: '13' }), 'the yield synced last is not 12'],
    [
      'another realized yield',
      portfolioBut({ yield_earned_realized: '6' }),
      'yield_earned_realized is 6, by its transactions 5',
    ],
    ['no transactions', { oldestFirst: [] }, 'deposited is 50, by its transactions 0'],
  ])('does not allow %s', (_what, changes, flaw) => {
    expect(checkPrincipal(evidence(changes))).toEqual({ compared: 1, offences: [`jar_1 of alice (acme): ${flaw}`] })
  })

  test('allows a withdrawal of yield alone, and one at a loss', () => {
    const yieldAlone = {
      ...but(withdrawal, { deposited_amount_after: '100' }),
      ...portfolioBut({ deposited: '100', yield_earned_realized: '55' }),
    }
    expect(checkPrincipal(evidence(yieldAlone))).toEqual(fine(1))
    const atLoss = { ...but(withdrawal, { amount_changed: '49' }), ...portfolioBut({ yield_earned_realized: '0' }) }
    expect(checkPrincipal(evidence(atLoss))).toEqual(fine(1))
  })

  test('goes on until nothing is left', () => {
    const before = { deposited_amount_before: '50', yield_earned_after: '15', tx_hash: '0x05' } as const
    const oldestFirst = [
      ...history,
      { ...harvest, ...before, id: 'txn_4', amount_changed: '3', yield_delta: '3', yield_earned_before: '12' },
      { ...withdrawal, ...before, id: 'txn_5', amount_changed: '60', yield_delta: '0', yield_earned_before: '15' },
    ].map((one, i) => ({ ...one, deposited_amount_after: ['100', '100', '50', '50', '0'][i]! }))
    const emptied = portfolioBut({ deposited: '0', yield_earned_realized: '15', yield_earned_synced: '15' })
    expect(checkPrincipal(evidence({ ...emptied, oldestFirst }))).toEqual(fine(1))
  })

  test('is its own, among others of the same end user', () => {
    const other = { ...jar, portfolio_id: 'jar_2' }
    const oldestFirst = history.flatMap((one) => [one, { ...one, id: `${one.id}b`, portfolio_id: 'jar_2' }])
    expect(checkPrincipal(evidence({ portfolios: [jar, other], oldestFirst }))).toEqual(fine(2))
    expect(
      checkPrincipal(evidence({ oldestFirst: [...history, { ...deposit, id: 'txn_9', portfolio_id: 'jar_9' }] })),
    ).toEqual(offence('txn_9 of alice (acme) names no portfolio of the end user'))
  })
})

describe('balances', () => {
  const of = (...holdings: Holding[]) => checkBalances(evidence({ holdings }))

  test('follow from each other, and are no negative yield', () => {
    expect(of(holding([jar], [44n]))).toEqual(fine(1))
    const [shown] = holding([jar], [57n]).shown
    const wrong = { ...shown!, balances: { ...shown!.balances, yield_earned: '13' } }
    expect(of(holding([jar], [57n], { shown: [wrong] }))).toEqual(
      offence('jar_1 of alice (acme) shows a yield that does not follow from its balances'),
    )
  })

  test.each<[number, bigint, boolean]>([
    [0, 0n, true],
    [0, 1n, false],
    [1, 0n, true],
    [1, 1n, false],
    [1, -1n, false],
    [2, 1n, true],
    [2, -1n, true],
    [2, 2n, false],
    [2, -2n, false],
  ])('of %i portfolios may be %d units from the worth of the whole: %s', (parts, off, allowed) => {
    const values = Array(parts).fill(57n)
    const worth = 57n * BigInt(parts) - off
    const said = `alice (acme) in pool_1 is shown ${57n * BigInt(parts)}, worth ${worth} on chain`
    const found = of(holding(Array(parts).fill(jar), values, { worth }))
    expect(found).toEqual({ compared: parts, offences: allowed ? [] : [said] })
  })
})

test('a wallet holds what it was made with, less what was spent, and what others gave', () => {
  const [purse] = evidence().balances
  const others = (balance: bigint) => [purse!, { ...purse!, token_symbol: 'DAI', balance }]
  expect(checkWallets(evidence({ balances: others(954n) }))).toEqual({
    compared: 2,
    offences: ['the wallet of alice (acme) holds 954 DAI, by the ledger 955'],
    gifts: [],
  })
  expect(checkWallets(evidence({ balances: others(956n) }))).toEqual(
    gift('1 minor units of DAI to the wallet of alice (acme)'),
  )
})

test('a transaction stands on chain as successful', () => {
  const oldestFirst = (['0x01', '0x02', '0x03', '0x04'] as const).map((tx_hash) =>
    transaction(`txn_${tx_hash}`, { tx_hash }),
  )
  const outcomes = new Map([
    ['0x01', 'success'],
    ['0x02', 'reverted'],
    ['0x03', 'unknown'],
  ] as const)
  expect(checkHashes(evidence({ oldestFirst, outcomes }))).toEqual({
    compared: 4,
    offences: [
      '0x04 (txn_0x04 of alice (acme)) is not on chain',
      '0x03 (txn_0x03 of alice (acme)) is not on chain',
      '0x02 (txn_0x02 of alice (acme)) is reverted on chain',
    ],
  })
})

describe('an Idempotency-Key', () => {
  /** Transactions under the keys, at these milliseconds. */
  const check = (...uses: [key: string | null, at: number][]) => {
    const oldestFirst = uses.map(([idempotency_id, at], i) =>
      transaction(`txn_${i}`, { idempotency_id, created_at: moment(at) }),
    )
    return checkIdempotency(evidence({ oldestFirst }), TTL)
  }

  test('causes one transaction until it is forgotten', () => {
    expect(check(['a', 0], ['b', 0], ['a', TTL + 1])).toEqual(fine(2))
    expect(check(['a', 0], ['b', 0], ['a', TTL])).toEqual({
      compared: 2,
      offences: ['the key a caused both txn_0 and txn_2'],
    })
  })

  test('is compared with its latest use', () => {
    expect(check(['a', 0], ['a', TTL + 1], ['a', TTL + 2])).toEqual(offence('the key a caused both txn_1 and txn_2'))
  })

  test('that was not given is none', () => {
    expect(check([null, 0], [null, 0])).toEqual(fine(0))
  })
})
