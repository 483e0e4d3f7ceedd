import { beforeAll, describe, expect, test } from 'vitest'
import type { AuditReport } from '../../src/control/contract.ts'
import { SHAPES, type Write } from '../../src/domain/ports/store.ts'
import type { Hex } from '../../src/domain/records.ts'
import {
  audit,
  busy,
  change,
  clock,
  detail,
  expectSound,
  failing,
  ledger,
  open,
  openOnce,
  portfolio,
  store,
  transactions,
} from './audited.ts'

let jars: string[]
openOnce()
beforeAll(async () => {
  jars = await busy()
})

/** What a bug might write into the ledger. */
const TAMPERED: [what: string, checks: string[], names: RegExp, change: (jars: string[]) => Promise<Write>][] = [
  [
    'a portfolio with more shares',
    ['shares', 'balances'],
    /carol \(acme\) in aave-usdc has \d+ shares in the ledger, \d+ on chain/,
    async ([jar]) =>
      change('portfolios', await portfolio(jar!), ({ shares }) => ({ shares: `${BigInt(shares) + 9n}` })),
  ],
  [
    'a portfolio with less than nothing',
    ['shares', 'balances'],
    /jar_\w+ of carol \(acme\) has -5 shares/,
    async ([, , jar]) => change('portfolios', await portfolio(jar!), () => ({ shares: '-5' })),
  ],
  [
    'another principal',
    ['principal'],
    /jar_\w+ of carol \(acme\): deposited is 12, by its transactions 8000000001/,
    async ([, jar]) => change('portfolios', await portfolio(jar!), () => ({ deposited: '12' })),
  ],
  [
    'yield that was never paid out',
    ['principal'],
    /yield_earned_realized is 3, by its transactions 0/,
    async ([, jar]) => change('portfolios', await portfolio(jar!), () => ({ yield_earned_realized: '3' })),
  ],
  [
    'a transaction of another amount',
    ['principal', 'wallets'],
    /txn_\w+ changes the principal from 0 to 7000000001 by a deposit of 7000000000/,
    async ([jar]) => change('transactions', (await transactions(jar!))[0]!, () => ({ amount_changed: '7000000000' })),
  ],
  [
    'a transaction that is gone',
    ['principal', 'wallets'],
    /deposited is 7000000001, by its transactions 0/,
    async ([jar]) => ({ collection: 'transactions', remove: (await transactions(jar!))[0]!.id }),
  ],
  [
    'a transaction of nobody',
    ['principal', 'wallets', 'hashes'],
    /txn_\w+ of carol \(acme\) names no portfolio of the end user/,
    async ([jar]) => change('transactions', (await transactions(jar!))[0]!, () => ({ portfolio_id: 'jar_0' })),
  ],
  [
    'a hash that the chain does not know',
    ['hashes'],
    /0xabab\w+ \(txn_\w+ of carol \(acme\)\) is not on chain/,
    async ([jar]) => {
      const tx_hash: Hex = `0x${'ab'.repeat(32)}`
      return change('transactions', (await transactions(jar!))[0]!, () => ({ tx_hash }))
    },
  ],
  [
    'two transactions of one hash',
    ['hashes'],
    /0x\w+ stands for both txn_\w+ and txn_\w+ of carol/,
    async ([jar, other]) => {
      const { tx_hash } = (await transactions(jar!))[0]!
      return change('transactions', (await transactions(other!))[0]!, () => ({ tx_hash }))
    },
  ],
  [
    'a signed transfer that nothing carries out',
    ['transfers'],
    /txn_0 \(0x00\) of \S+ \(\w+\) was signed, and nothing carries it out/,
    async ([jar]) => ({
      collection: 'transfers',
      put: {
        id: 'txn_0',
        end_user_id: (await ledger.users())[0]!.id,
        portfolio_id: jar!,
        type: 'deposit',
        chain_id: '31337',
        tx_hash: '0x00',
        raw_transaction: '0x00',
        amount: '1',
        value_before: '0',
        block_timestamp: 0,
        claim: null,
        signed_at: clock().iso(),
      },
    }),
  ],
  // With deposits that stay.
  [
    'a gap between two transactions',
    ['principal'],
    /txn_\w+ begins with a principal other than 7000000001/,
    async ([jar]) => {
      await open.acme.deposit('carol', jar!, '1000')
      const before = { deposited_amount_before: '7000000002', deposited_amount_after: '7000001002' }
      return change('transactions', (await transactions(jar!))[0]!, () => before)
    },
  ],
  [
    'two transactions of one key',
    ['idempotency'],
    /the key \S+\/deposit\/carol\/\S+ caused both txn_\w+ and txn_\w+/,
    async ([jar]) => {
      await open.acme.deposit('carol', jar!, '1000')
      await open.acme.deposit('carol', jar!, '1000')
      const [last, earlier] = await transactions(jar!)
      return change('transactions', last!, () => ({ idempotency_id: earlier!.idempotency_id }))
    },
  ],
]

/** What the audit says of these writes, which are taken back after it. */
async function auditedWith(writes: readonly Write[]): Promise<AuditReport> {
  const undo = await Promise.all(
    writes.map(async (write): Promise<Write> => {
      const { collection } = write
      const id = 'put' in write ? SHAPES[collection].id(write.put as never) : write.remove
      const before = await store().get(collection, id)
      return (before ? { collection, put: before } : { collection, remove: id }) as Write
    }),
  )
  await store().commit([...writes])
  try {
    return await audit()
  } finally {
    await store().commit(undo)
  }
}

describe('an unsound ledger', () => {
  test.each(TAMPERED)('%s is found, and named', async (_, checks, names, tamper) => {
    const report = await auditedWith([await tamper(jars)])
    expect(failing(report)).toEqual(checks)
    expect(report.ok).toBe(false)
    expect(
      report.checks
        .filter(({ ok }) => !ok)
        .map(({ detail }) => detail)
        .join('\n'),
    ).toMatch(names)
  })

  test('many offenders: the first are named, the others counted', async () => {
    const writes = jars.map(async (jar) => change('portfolios', await portfolio(jar), () => ({ deposited: '1' })))
    expect(detail(await auditedWith(await Promise.all(writes)), 'principal')).toMatch(
      /; 5 wrong: (jar_[^;]+; ){3}and 2 more$/,
    )
  })

  test('is sound again when all of it is taken back', async () => {
    await expectSound()
  })
})
