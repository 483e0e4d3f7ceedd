import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { Money, UserMoney } from '../../src/domain/money.ts'
import { auditedMoneyOf, unsettledAfter } from '../../src/sandbox/money-of.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { eventually } from '../helpers/eventually.ts'
import { writeFixture } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Partner, partnerAt } from '../helpers/partner.ts'
import { PATIENCE } from '../helpers/patience.ts'

let sandbox: Sandbox
let control: ControlClient
let acme: Partner
let globex: Partner
beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-money-'))
  // Yield has records of its own, which must not be taken for transfers.
  const fixtures = await writeFixture(directory, (fixture) => {
    fixture.service = { yield_harvest: 'recorded' }
  })
  sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7, fixtures })
  await rm(directory, { recursive: true })
  await sandbox.ready
  control = new ControlClient(sandbox.baseUrl)
  const credentials = await sandbox.credentials()
  acme = partnerAt(credentials)
  globex = partnerAt(credentials, 'globex')
})
afterAll(() => sandbox.stop())
afterEach(() => control.clearFaults())

const money = async (): Promise<Money> => (await auditedMoneyOf(sandbox.namespace, 10_000)).money
const unsettled = (milliseconds = PATIENCE) => unsettledAfter(sandbox.namespace, milliseconds)
const hits = async () => (await control.faults()).map((fault) => fault.hits)

/** The wallet of an end user at the start: 1,000,000 USDC. */
const FULL = 1_000_000_000_000n

let name: string
beforeEach(() => {
  name = `u-${randomUUID()}`
})

async function moneyOfUser(external_id = name, tenant = 'acme'): Promise<UserMoney> {
  const { users } = await money()
  return users.find((user) => user.external_id === external_id && user.tenant === tenant)!
}

/** Transfers of a pool in few words. */
function transfersIn(user: UserMoney, pool = 'aave-usdc'): string[] {
  const { transfers } = user.pools.find(({ pool_id }) => pool_id === pool)!
  return transfers.map(({ type, amount_minor }) => `${type} ${amount_minor}`)
}

const left = (user: UserMoney) => FULL - BigInt(user.wallet[0]!.balance)

describe('the money of a namespace', () => {
  test('deposits and withdrawals, oldest first, with the principal and the wallet', async () => {
    const portfolio = await acme.open(name)
    const ids: string[] = []
    for (const [way, amount] of [
      ['deposit', '5000'],
      ['withdraw', '2000'],
      ['deposit', '700'],
    ] as const) {
      const { body } = await acme[way](name, portfolio, amount)
      ids.push(body.transaction_id)
    }
    const user = await moneyOfUser()
    expect(user).toMatchObject({
      pools: [{ pool_id: 'aave-usdc', token_symbol: 'USDC', token_decimals: 6, principal: '3700' }],
      wallet: [{ token_symbol: 'USDC', token_decimals: 6 }],
    })
    expect(transfersIn(user)).toEqual(['deposit 5000', 'withdraw 2000', 'deposit 700'])
    const listed = await acme.get(`end_users/${name}/transactions`)
    const own = listed.body.data.filter(({ type }: Record<string, string>) => type !== 'yield_harvest')
    const shown = own.map(({ id, tx_hash }: Record<string, string>) => [id, tx_hash]).toReversed()
    expect(user.pools[0]!.transfers.map((one) => [one.transaction_id, one.tx_hash])).toEqual(shown)
    expect(left(user)).toBe(3700n)
  })

  test('two portfolios in one pool are together, two pools of one token apart, with one wallet', async () => {
    const first = await acme.open(name, 'aave-usdc', 'First')
    const second = await acme.open(name, 'aave-usdc', 'Second')
    const vault = await acme.open(name, 'morpho-usdc', 'Vault')
    await acme.deposit(name, second, '10')
    await acme.deposit(name, vault, '400')
    await acme.deposit(name, first, '2000')
    const user = await moneyOfUser()
    expect(user.pools.map(({ pool_id, principal }) => [pool_id, principal]).toSorted()).toEqual([
      ['aave-usdc', '2010'],
      ['morpho-usdc', '400'],
    ])
    expect([transfersIn(user), transfersIn(user, 'morpho-usdc')]).toEqual([
      ['deposit 10', 'deposit 2000'],
      ['deposit 400'],
    ])
    expect(user.wallet).toHaveLength(1)
    expect(left(user)).toBe(2410n)
  })

  test('end users of one name at two tenants', async () => {
    for (const [partner, amount] of [
      [acme, '100'],
      [globex, '999'],
    ] as const)
      await partner.deposit(name, await partner.open(name), amount)
    expect(transfersIn(await moneyOfUser(name, 'acme'))).toEqual(['deposit 100'])
    expect(transfersIn(await moneyOfUser(name, 'globex'))).toEqual(['deposit 999'])
  })

  test('what reverted, what is yield and what the fixture deposited are no transfers', async () => {
    const portfolio = await acme.open(name)
    await acme.deposit(name, portfolio, '5000000000')
    await control.moveClock({ advance: '30d' })
    await control.addFaults([{ kind: 'revert' }])
    expect(outcome(await acme.deposit(name, portfolio, '70'))).toBe('422 transaction_reverted')
    await acme.withdraw(name, portfolio, '1000000000')
    const user = await moneyOfUser()
    expect([transfersIn(user), left(user)]).toEqual([['deposit 5000000000', 'withdraw 1000000000'], 4_000_000_000n])
    // Of the withdrawal, part was yield: by the ledger, more principal is left.
    expect(user.pools[0]!.principal).toBe('4000000000')
    const alice = await moneyOfUser('alice')
    expect(alice.pools).toEqual([expect.objectContaining({ principal: '2500000000', transfers: [] })])
  })

  test('an end user without a portfolio is left out', async () => {
    await acme.post('end_users', { external_id: name })
    expect((await money()).users.map(({ external_id }) => external_id)).not.toContain(name)
  })
})

describe('unsettledAfter: what is under way comes to its end first', () => {
  test('nothing is under way: at once', async () => {
    expect(await unsettled(0)).toBe(0)
  })

  test.each(['before_broadcast', 'after_broadcast', 'after_confirmation'] as const)(
    'a deposit whose client lost its connection %s',
    async (phase) => {
      const portfolio = await acme.open(name)
      await control.addFaults([{ kind: 'drop_connection', phase, match: { operation: 'deposit' } }])
      await expect(acme.deposit(name, portfolio, '5000')).rejects.toThrow()
      await control.clearFaults()
      expect(await unsettled()).toBe(0)
      const user = await moneyOfUser()
      expect([transfersIn(user), left(user)]).toEqual([['deposit 5000'], 5000n])
    },
  )

  test('a deposit that is held up, and those that wait for their turn behind it', async () => {
    const portfolio = await acme.open(name)
    await control.addFaults([{ kind: 'stuck', match: { external_id: name } }])
    const held = acme.deposit(name, portfolio, '1')
    await eventually(async () => expect(await hits()).toEqual([1]))
    // Sent while the first holds the queue: the ledger knows nothing of them.
    const waiting = ['2', '3', '4', '5'].map((amount) => acme.deposit(name, portfolio, amount))
    await eventually(async () => expect(await unsettled(1)).toBe(5))
    await control.clearFaults()
    expect(await unsettled()).toBe(0)
    const user = await moneyOfUser()
    expect([transfersIn(user).length, left(user)]).toEqual([5, 15n])
    await Promise.all([held, ...waiting])
  })

  test('one that is held up before it is signed', async () => {
    const portfolio = await acme.open(name)
    await control.addFaults([
      { kind: 'latency', phase: 'before_broadcast', match: { external_id: name }, with: { delay: '1h' } },
    ])
    const held = acme.deposit(name, portfolio, '7')
    await eventually(async () => expect(await hits()).toEqual([1]))
    expect(await unsettled(1)).toBe(1)
    await control.clearFaults()
    expect(await unsettled()).toBe(0)
    expect(transfersIn(await moneyOfUser())).toEqual(['deposit 7'])
    expect(outcome(await held)).toBe('200')
  })
})
