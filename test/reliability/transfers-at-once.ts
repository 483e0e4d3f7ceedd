import { afterEach, beforeEach, expect } from 'vitest'
import { Ledger, type OpenNamespace, openNamespace } from './ledger.ts'

export let open: OpenNamespace
export let ledger: Ledger

export const POOLS = ['aave-usdc', 'aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']

/** Opens a namespace for each test of a file. */
export function openEachTime(): void {
  beforeEach(async () => {
    open = await openNamespace()
    ledger = new Ledger(open)
  })
  afterEach(() => open.stop())
}

/** A number of end users with a portfolio on each of {@link POOLS}, two of them in one pool. */
async function openMany(users: number): Promise<{ user: string; portfolio: string }[]> {
  const names = Array.from({ length: users }, (_, i) => `user-${i}`)
  const all = names.flatMap((user) =>
    POOLS.map((pool) => open.acme.open(user, pool).then((portfolio) => ({ user, portfolio }))),
  )
  return Promise.all(all)
}

/** How many transfers are asked for at the same time: four for each of five portfolios of each end user. */
const countOf = (users: number): number => users * POOLS.length * 4

/** So many deposits at the same time: each is carried out once, and the ledger is the chain. */
export async function depositAtOnce(users: number): Promise<void> {
  const count = countOf(users)
  const portfolios = await openMany(users)
  const orders = Array.from({ length: count }, (_, i) => ({
    ...portfolios[i % portfolios.length]!,
    amount: 1_000_000n + BigInt(i),
  }))
  const answers = await Promise.all(
    orders.map(({ user, portfolio, amount }) => open.acme.deposit(user, portfolio, amount.toString())),
  )
  expect(answers.map(({ status, body }) => ({ status, code: body.code }))).toEqual(
    orders.map(() => ({ status: 200, code: undefined })),
  )
  expect(new Set(answers.map(({ body }) => body.tx_hash)).size).toBe(count)
  expect(new Set(answers.map(({ body }) => body.transaction_id)).size).toBe(count)
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
}

/** Deposits and withdrawals at the same time, from the same portfolios. */
export async function crossEachOther(users: number): Promise<void> {
  const count = countOf(users)
  const portfolios = await openMany(Math.ceil(users / 2))
  for (const { user, portfolio } of portfolios) await open.acme.deposit(user, portfolio, '1000000')
  const answers = await Promise.all(
    Array.from({ length: (count * 3) / 5 }, (_, i) => {
      const { user, portfolio } = portfolios[i % portfolios.length]!
      return i % 2 ? open.acme.withdraw(user, portfolio, '300000') : open.acme.deposit(user, portfolio, '100000')
    }),
  )
  for (const { status, body } of answers)
    expect([200, 'insufficient_balance']).toContain(status === 200 ? 200 : body.code)
  await ledger.expectSound()
}
