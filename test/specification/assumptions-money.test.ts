import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { confirmed, mined } from '../helpers/confirmation.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { receiptOf, revokeAllowance, tokenBalance } from '../helpers/on-chain.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { NUMERIC, TIMESTAMP, TX_HASH, ULID } from '../helpers/patterns.ts'

const YEAR = 365 * 24 * 60 * 60 * 1000
interface Listed {
  portfolio_id: string
  deposited: string
  yield_earned: string
  yield_earned_realized: string
  total_balance: string
}

let sandbox: SandboxHandle
/** transfer_status 201, wallets as the fixture says. */
let switched: SandboxHandle
let acme: Partner
let other: Partner
beforeAll(async () => {
  ;[sandbox, switched] = await Promise.all([
    testNamespace(),
    sandboxWith((fixture) => {
      fixture.service = { transfer_status: 201 }
      fixture.tenants[0]!.end_users = [{ external_id: 'alice', wallet_balance: { USDC: '5', WETH: '0.25' } }]
    }),
  ])
  for (const each of [sandbox, switched]) await each.clock.freeze()
  acme = new Partner(sandbox)
  other = new Partner(switched)
})
afterAll(() => Promise.all([sandbox, switched].map((each) => each.stop())))

async function listed(partner: Partner, user: string, portfolio: string): Promise<Listed> {
  const { data } = (await partner.get(`end_users/${user}/portfolios?limit=100`)).body
  return data.find(({ portfolio_id }: Listed) => portfolio_id === portfolio)
}

test("Assumption amount-unit: the four amounts are digit strings in the token's minor units", async () => {
  for (const poolId of ['aave-usdc', 'morpho-weth']) {
    const portfolio = await acme.open('amy', poolId)
    const unit = poolId.endsWith('usdc') ? 10n ** 6n : 10n ** 18n
    await acme.deposit('amy', portfolio, String(3n * unit))
    await sandbox.clock.advance(YEAR)
    const item = await listed(acme, 'amy', portfolio)
    for (const field of ['deposited', 'yield_earned', 'yield_earned_realized', 'total_balance'] as const) {
      expect(item[field]).toMatch(NUMERIC)
    }
    expect(BigInt(item.total_balance) / unit).toBe(3n)
  }
})

describe.each(['aave-usdc', 'morpho-usdc'])('%s', (poolId) => {
  test('Assumption balance-meaning: worth, principal, yield, realized; a withdrawal takes both in proportion', async () => {
    const portfolio = await acme.open('bea', poolId)
    await acme.deposit('bea', portfolio, '1000000000')
    await sandbox.clock.advance(YEAR)
    const before = await listed(acme, 'bea', portfolio)
    const [worth, earned] = [BigInt(before.total_balance), BigInt(before.yield_earned)]
    expect(earned).toBeGreaterThan(20_000_000n)
    expect(before).toMatchObject({ deposited: '1000000000', yield_earned_realized: '0' })
    expect(earned).toBe(worth - 1_000_000_000n)

    const half = worth / 2n
    const { body } = await acme.withdraw('bea', portfolio, String(half))
    const principalLeft = BigInt(body.deposited)
    expect(Math.abs(Number(principalLeft - 500_000_000n))).toBeLessThanOrEqual(1)
    expect(BigInt(body.yield_earned_realized)).toBe(half - (1_000_000_000n - principalLeft))
    expect(Math.abs(Number(BigInt(body.total_balance) - (worth - half)))).toBeLessThanOrEqual(2)
    expect(BigInt(body.yield_earned)).toBe(
      BigInt(body.total_balance) - principalLeft + BigInt(body.yield_earned_realized),
    )
    expect(Math.abs(Number(BigInt(body.yield_earned) - earned))).toBeLessThanOrEqual(2)
  })
})

test('Assumption transfer-status: 200, or 201 when so set', async () => {
  const transfer = async (partner: Partner) => {
    const portfolio = await partner.open('alice')
    const deposit = await partner.deposit('alice', portfolio, '1000')
    return [deposit.status, (await partner.withdraw('alice', portfolio, '500')).status]
  }
  expect(await transfer(acme)).toEqual([200, 200])
  expect(await transfer(other)).toEqual([201, 201])
})

test('Assumption transfer-response: the flat portfolio after the transaction, tx_hash and transaction_id', async () => {
  await acme.post('end_users', { external_id: 'tess' })
  const created = (await acme.post('end_users/tess/portfolios', await acme.portfolioBody('aave-usdc'))).body
  await sandbox.clock.advance(1_000)
  const { body } = await acme.deposit('tess', created.portfolio_id, '1000000')
  expect(body).toEqual({
    ...created,
    ...{ deposited: '1000000', updated_at: await sandbox.clock.iso() },
    // Rounding on chain may be off by one minor unit.
    total_balance: expect.stringMatching(/^(999999|100000[01])$/),
    yield_earned: expect.stringMatching(/^[01]$/),
    tx_hash: expect.stringMatching(TX_HASH),
    transaction_id: expect.stringMatching(new RegExp(`^txn_${ULID}$`)),
  })
  expect((await acme.get('end_users/tess/transactions')).body.data[0].id).toBe(body.transaction_id)
})

describe('transfer errors', () => {
  test.each(['deposit', 'withdraw'] as const)('Assumption transfer-errors: of %s', async (operation) => {
    const portfolio = await acme.open('ted')
    await acme.open('bob2')
    const of = async (id: string, amount: string) => {
      const answer = await acme[operation]('ted', id, amount)
      return [outcome(answer), answer.body.param]
    }
    const foreign = (await acme.get('end_users/bob2/portfolios')).body.data[0].portfolio_id
    expect(await of('jar_unknown', '1')).toEqual(['404 portfolio_not_found', 'portfolio_id'])
    expect(await of(foreign, '1')).toEqual(['404 portfolio_not_found', 'portfolio_id'])
    for (const amount of ['ten', '0', '000', String(2n ** 256n), '9'.repeat(1_000)]) {
      expect(await of(portfolio, amount)).toEqual(['400 validation_error', 'amount_minor'])
    }
    expect(await of(portfolio, String(2n ** 256n - 1n))).toEqual(['422 insufficient_balance', 'amount_minor'])
    expect(await of(portfolio, '1000000000001')).toEqual(['422 insufficient_balance', 'amount_minor'])
  })

  test('Assumption transfer-errors: a deposit that a market gives nothing of worth for is refused, nothing signed', async () => {
    await using old = await testNamespace()
    await old.clock.advance(80 * YEAR) // a unit has become too little for a share of Aave, too
    const partner = new Partner(old)
    const { wallet_address } = (await partner.post('end_users', { external_id: 'tiny' })).body
    for (const poolId of ['morpho-usdc', 'morpho-weth', 'aave-usdc']) {
      const [portfolio, key] = [await partner.open('tiny', poolId), randomUUID()]
      const refused = async () => {
        const answer = await partner.deposit('tiny', portfolio, '1', { key })
        return [outcome(answer), answer.body.param, answer.headers.get('idempotency-key-replay')]
      }
      expect(await refused()).toEqual(['422 amount_too_small', 'amount_minor', 'false'])
      expect(await refused()).toEqual(['422 amount_too_small', 'amount_minor', 'true'])
    }
    expect(await old.chain.getTransactionCount({ address: wallet_address })).toBe(0)
  })

  test('Assumption transfer-errors: what a vault gives something for can be withdrawn again', async () => {
    for (const poolId of ['morpho-usdc', 'morpho-weth']) {
      const portfolio = await acme.open('two', poolId)
      expect((await acme.deposit('two', portfolio, '2')).body).toMatchObject({ deposited: '2', total_balance: '1' })
      expect((await acme.withdraw('two', portfolio, '1')).body).toMatchObject({ deposited: '0', total_balance: '0' })
    }
  })

  test('Assumption transfer-errors: a transaction that reverts on chain is 422 transaction_reverted, and not listed', async () => {
    const { wallet_address } = (await acme.post('end_users', { external_id: 'rob' })).body
    const portfolio = await acme.open('rob')
    const { token_address, market_address } = await acme.pool('aave-usdc')
    await revokeAllowance(sandbox, token_address!, wallet_address, market_address!)
    const answer = await acme.deposit('rob', portfolio, '1000')
    expect(outcome(answer)).toBe('422 transaction_reverted')
    const [hash] = /0x[0-9a-f]{64}/.exec(answer.body.detail) ?? []
    expect(await receiptOf(sandbox, hash!)).toMatchObject({ status: '0x0' })
    expect((await acme.get('end_users/rob/transactions')).body.data).toEqual([])
    expect(await listed(acme, 'rob', portfolio)).toMatchObject({ deposited: '0', total_balance: '0' })
  })

  test('Assumption transfer-errors: a chain that cannot be reached is 503 chain_unavailable with Retry-After', async () => {
    await using broken = await testNamespace()
    const partner = new Partner(broken)
    const portfolio = await partner.open('alice')
    await broken.faults.add({
      kind: 'chain_down',
      times: 'always',
      match: { operation: 'deposit' },
      with: { for: '1h' },
    })
    const deposit = () => partner.deposit('alice', portfolio, '1000')
    expect(outcome(await deposit())).toBe('503 chain_unavailable')
    const answer = await deposit()
    expect(outcome(answer)).toBe('503 chain_unavailable')
    expect(answer.headers.get('retry-after')).toMatch(NUMERIC)
  })
})

test.each([
  ['fin', 'aave-usdc'],
  ['ann', 'morpho-usdc'],
])('Assumption transaction-fields: amounts and yield before and after, of %s in %s', async (user, poolId) => {
  const portfolio = await acme.open(user, poolId)
  const deposit = (await acme.deposit(user, portfolio, '1000000000')).body
  await sandbox.clock.advance(YEAR)
  const withdrawal = (await acme.withdraw(user, portfolio, '400000000')).body
  const [second, first] = (await acme.get(`end_users/${user}/transactions`)).body.data
  const same = {
    portfolio_id: portfolio,
    created_at: expect.stringMatching(TIMESTAMP),
    tx_hash: expect.stringMatching(TX_HASH),
  }
  expect(first).toEqual({
    ...same,
    ...{ id: deposit.transaction_id, type: 'deposit', amount_changed: '1000000000', yield_delta: deposit.yield_earned },
    ...{ deposited_amount_before: '0', deposited_amount_after: '1000000000' },
    ...{ yield_earned_before: '0', yield_earned_after: deposit.yield_earned, timestamp: first.created_at },
  })
  const earned = withdrawal.yield_earned
  expect(Number(earned)).toBeGreaterThan(20_000_000)
  const delta = String(BigInt(earned) - BigInt(deposit.yield_earned))
  expect(second).toEqual({
    ...same,
    ...{ id: withdrawal.transaction_id, type: 'withdrawal', amount_changed: '400000000', yield_delta: delta },
    ...{ deposited_amount_before: '1000000000', deposited_amount_after: withdrawal.deposited },
    ...{ yield_earned_before: deposit.yield_earned, yield_earned_after: earned, timestamp: second.created_at },
  })
  expect([withdrawal.tx_hash, await sandbox.clock.iso()]).toEqual([second.tx_hash, second.created_at])
})

test('Assumption transaction-visible: once confirmed, never before', async () => {
  await using slow = await testNamespace({ confirmationDelay: '10s' })
  await slow.clock.freeze()
  const partner = new Partner(slow)
  const portfolio = await partner.open('vic')
  const list = async () => (await partner.get('end_users/vic/transactions')).body.data
  const { request } = await mined(slow, () => partner.deposit('vic', portfolio, '1000'))
  await slow.clock.advance(9_999)
  expect(await list()).toEqual([])
  const { body } = await confirmed(slow, request)
  expect(await list()).toMatchObject([{ tx_hash: body.tx_hash }])
})

test('Assumption wallet: each end user has one, with 1,000,000 tokens or what the fixture says', async () => {
  const wallet = async (partner: Partner, external_id: string) => {
    const { body } = await partner.post('end_users', { external_id })
    const balance = async (poolId: string) =>
      tokenBalance(partner.sandbox, (await partner.pool(poolId)).token_address!, body.wallet_address)
    return { address: body.wallet_address, USDC: await balance('aave-usdc'), WETH: await balance('aave-weth') }
  }
  const [one, two] = [await wallet(acme, 'wanda'), await wallet(acme, 'wolf')]
  expect(one).toMatchObject({ USDC: 10n ** 12n, WETH: 10n ** 24n })
  expect(two.address).not.toBe(one.address)
  expect((await wallet(other, 'alice')).WETH).toBe(25n * 10n ** 16n)
  const tooMuch = await other.deposit('alice', await other.open('alice', 'aave-weth'), String(10n ** 18n))
  expect(outcome(tooMuch)).toBe('422 insufficient_balance')
})

test('Assumption fees: none, total_fees_paid is "0" and all yield is paid out', async () => {
  const portfolio = await acme.open('fee')
  const { token_address } = await acme.pool('aave-usdc')
  const { wallet_address } = (await acme.post('end_users', { external_id: 'fee' })).body
  const before = await tokenBalance(sandbox, token_address!, wallet_address)
  await acme.deposit('fee', portfolio, '1000000000')
  await sandbox.clock.advance(YEAR)
  const item = (await acme.get('end_users/fee/portfolios')).body.data[0]
  expect(item).toMatchObject({ total_fees_paid: '0', total_gross_yield_earned: item.yield_earned })
  await acme.withdraw('fee', portfolio, item.total_balance)
  expect((await tokenBalance(sandbox, token_address!, wallet_address)) - before).toBe(BigInt(item.yield_earned))
})

test("Assumption swaps: none, a deposit moves the pool's own token alone", async () => {
  const portfolio = await acme.open('sue', 'aave-weth')
  const { wallet_address } = (await acme.post('end_users', { external_id: 'sue' })).body
  const usdc = (await acme.pool('aave-usdc')).token_address!
  const before = await tokenBalance(sandbox, usdc, wallet_address)
  expect((await acme.deposit('sue', portfolio, '1000000')).body).toMatchObject({
    token_symbol: 'WETH',
    deposited: '1000000',
  })
  expect(await tokenBalance(sandbox, usdc, wallet_address)).toBe(before)
})
