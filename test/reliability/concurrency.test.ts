import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Ledger, type OpenNamespace, openNamespace } from './ledger.ts'

let open: OpenNamespace
let ledger: Ledger
beforeEach(async () => {
  open = await openNamespace()
  ledger = new Ledger(open)
})
afterEach(() => open.stop())

const POOLS = ['aave-usdc', 'aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']

/** A number of end users with a portfolio on each of {@link POOLS}, two of them in one pool. */
async function openMany(users: number): Promise<{ user: string; portfolio: string }[]> {
  const names = Array.from({ length: users }, (_, i) => `user-${i}`)
  const all = names.flatMap((user) =>
    POOLS.map((pool) => open.acme.open(user, pool).then((portfolio) => ({ user, portfolio }))),
  )
  return Promise.all(all)
}

describe('200 concurrent transfers on 50 portfolios', () => {
  test('deposits all succeed, once each, and the ledger is the chain', async () => {
    const portfolios = await openMany(10)
    const orders = Array.from({ length: 200 }, (_, i) => ({ ...portfolios[i % 50]!, amount: 1_000_000n + BigInt(i) }))
    const answers = await Promise.all(
      orders.map(({ user, portfolio, amount }) => open.acme.deposit(user, portfolio, amount.toString())),
    )
    expect(answers.map(({ status, body }) => ({ status, code: body.code }))).toEqual(
      orders.map(() => ({ status: 200, code: undefined })),
    )
    expect(new Set(answers.map(({ body }) => body.tx_hash)).size).toBe(200)
    expect(new Set(answers.map(({ body }) => body.transaction_id)).size).toBe(200)
    for (const { user, portfolio } of portfolios) {
      const { data } = (await open.acme.get(`end_users/${user}/portfolios`)).body
      const expected = orders
        .filter((order) => order.portfolio === portfolio)
        .reduce((sum, { amount }) => sum + amount, 0n)
      const listed = data.find(({ portfolio_id }: { portfolio_id: string }) => portfolio_id === portfolio)
      expect(listed.deposited).toBe(expected.toString())
    }
    for (const { body } of answers) expect((await ledger.receipt(body.tx_hash))?.status).toBe('0x1')
    await ledger.expectSound()
  })

  test('deposits and withdrawals that cross each other keep the ledger sound', async () => {
    const portfolios = await openMany(4)
    for (const { user, portfolio } of portfolios) await open.acme.deposit(user, portfolio, '1000000')
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => {
        const { user, portfolio } = portfolios[i % portfolios.length]!
        return i % 2 ? open.acme.withdraw(user, portfolio, '300000') : open.acme.deposit(user, portfolio, '100000')
      }),
    )
    for (const { status, body } of answers)
      expect([200, 'insufficient_balance']).toContain(status === 200 ? 200 : body.code)
    await ledger.expectSound()
  })
})

describe('one wallet, spent from many sides', () => {
  test('pays what it holds and no more', async () => {
    const portfolios = await Promise.all(
      Array.from({ length: 10 }, (_, i) => open.acme.open('carol', POOLS[i % 2 ? 0 : 3]!)),
    )
    const answers = await Promise.all(
      portfolios.map((portfolio) => open.acme.deposit('carol', portfolio, '200000000000')),
    )
    const paid = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status, body }) => status === 422 && body.code === 'insufficient_balance')
    expect([paid.length, refused.length]).toEqual([5, 5])
    await ledger.expectSound()
  })

  test('a position is emptied once', async () => {
    const portfolio = await open.acme.open('carol')
    await open.acme.deposit('carol', portfolio, '5000000')
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => open.acme.withdraw('carol', portfolio, '5000000')),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'insufficient_balance')).toHaveLength(7)
    await ledger.expectSound()
  })
})

describe('concurrent retries with one Idempotency-Key', () => {
  test.each(['deposit', 'withdraw'] as const)('make one %s', async (operation) => {
    const portfolio = await open.acme.open('carol')
    await open.acme.deposit('carol', portfolio, '9000000')
    const key = randomUUID()
    const spellings = [key, key.toUpperCase(), `"${key}"`]
    const answers = await Promise.all(
      Array.from({ length: 21 }, (_, i) =>
        open.acme[operation]('carol', portfolio, '1000', { key: spellings[i % 3]! }),
      ),
    )
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    const replays = answers.map(({ headers }) => headers.get('idempotency-key-replay'))
    expect(replays.filter((replay) => replay === 'false')).toHaveLength(1)
    const ids = answers.map(({ headers }) => headers.get('x-service-request-id'))
    expect(new Set(ids).size).toBe(21)
    expect((await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(2)
    await ledger.expectSound()
  })

  test('make one portfolio, and one end user even without a key', async () => {
    const users = await Promise.all(
      Array.from({ length: 10 }, () => open.acme.post('end_users', { external_id: 'dave' })),
    )
    expect(new Set(users.map(({ body }) => body.id)).size).toBe(1)
    const body = await open.acme.portfolioBody('morpho-usdc')
    const key = randomUUID()
    const all = Array.from({ length: 10 }, () => open.acme.post('end_users/dave/portfolios', body, { key }))
    expect(new Set((await Promise.all(all)).map(({ body }) => body.portfolio_id)).size).toBe(1)
    expect((await open.acme.get('end_users/dave/portfolios')).body.data).toHaveLength(1)
  })

  test('with different bodies: one is carried out, the others are told', async () => {
    const portfolio = await open.acme.open('carol')
    const key = randomUUID()
    const answers = await Promise.all(
      ['1000', '2000', '3000'].map((amount) => open.acme.deposit('carol', portfolio, amount, { key })),
    )
    const codes = answers.map(({ status, body }) => (status === 200 ? 'done' : body.code)).sort()
    expect(codes).toEqual(['done', ...Array(2).fill('idempotency_key_in_use_with_different_params')])
    await ledger.expectSound()
  })
})
