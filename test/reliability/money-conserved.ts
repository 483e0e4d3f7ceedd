import fc from 'fast-check'
import { createPublicClient, http, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EndUser, Pool, Portfolio } from '../../src/domain/records.ts'
import { Ledger, type OpenSandbox, openSandbox, wholeMillion } from './ledger.ts'

const DAY = 24 * 60 * 60 * 1000
/** Two portfolios of one wallet share a pool, two more the wallet's USDC. */
const POOLS = ['aave-usdc', 'aave-usdc', 'morpho-usdc', 'aave-weth', 'morpho-weth']

let open: OpenSandbox
let ledger: Ledger

type Move =
  | { kind: 'deposit'; portfolio: number; amount: bigint }
  | { kind: 'withdraw'; portfolio: number; share: number }
  | { kind: 'empty'; portfolio: number }
  | { kind: 'advance'; days: number }

const portfolio = fc.nat({ max: POOLS.length - 1 })
// Aave takes nothing that rounds to no share: with decades of interest, that can be a unit or two.
const amount = fc.oneof(
  fc.bigInt({ min: 10n, max: 50n }),
  fc.bigInt({ min: 10n, max: 10n ** 12n }),
  fc.bigInt({ min: 10n ** 15n, max: 10n ** 21n }),
)
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('deposit' as const), portfolio, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('withdraw' as const),
      portfolio,
      share: fc.integer({ min: 0, max: 1100 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty' as const), portfolio }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), days: fc.integer({ min: 0, max: 400 }) }),
  },
)

interface Listed {
  portfolio_id: string
  total_balance: string
  deposited: string
  yield_earned: string
  yield_earned_realized: string
}

const listed = async (user: string): Promise<Listed[]> =>
  (await open.acme.get(`end_users/${user}/portfolios`)).body.data

async function carryOut(move: Move, user: string, jars: readonly string[]): Promise<void> {
  if (move.kind === 'advance') return open.sandbox.namespace.services.service.clock.advance(move.days * DAY)
  const jar = jars[move.portfolio]!
  if (move.kind === 'deposit') {
    return expectMoved(await open.acme.deposit(user, jar, move.amount.toString()), move.amount)
  }
  const worth = BigInt((await listed(user)).find(({ portfolio_id }) => portfolio_id === jar)!.total_balance)
  const amount = move.kind === 'empty' ? worth : (worth * BigInt(move.share)) / 1000n
  if (amount === 0n) return
  const answer = await open.acme.withdraw(user, jar, amount.toString())
  if (move.kind === 'empty') expect(answer).toMatchObject({ status: 200, body: { total_balance: '0', deposited: '0' } })
  expectMoved(answer, amount)
}

function expectMoved({ status, body }: { status: number; body: { code?: string } }, amount: bigint): void {
  expect({ status, code: body.code, amount }).toSatisfy(
    ({ status, code }) => status === 200 || (status === 422 && code === 'insufficient_balance'),
    'carried out, or refused for want of money',
  )
}

/** Tries so many random orders of deposits, withdrawals and years. */
export function conservesMoney(runs: number): void {
  beforeAll(async () => {
    open = await openSandbox()
    ledger = new Ledger(open)
  })
  afterAll(() => open.stop())

  test('money is neither made nor lost, whatever the order of deposits, withdrawals and years', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 14 }), async (moves) => {
        await open.sandbox.namespace.reset()
        // Worth is compared across requests: time moves only when told to.
        open.sandbox.namespace.services.service.clock.freeze()
        const name = 'carol'
        const jars: string[] = []
        for (const pool of POOLS) jars.push(await open.acme.open(name, pool))
        for (const move of moves) await carryOut(move, name, jars)
        const user = (await ledger.users()).find(({ external_id }) => external_id === name)!
        await expectConserved(user)
        await expectWorth(user)
        await expectHistory(user)
        await ledger.expectSound()
      }),
      { numRuns: runs },
    )
  })
}

/** What the wallet lacks is the principal still in, less the yield it was paid: to the unit, but for roundings. */
async function expectConserved(user: EndUser): Promise<void> {
  const portfolios = await ledger.portfolios(user)
  const transactions = await ledger.transactions(user)
  const tokens = new Map((await ledger.pools()).map((pool) => [pool.token_address, pool]))
  for (const [token, pool] of tokens) {
    const here = portfolios.filter(({ token_address }) => token_address === token)
    const sum = (read: (portfolio: Portfolio) => string) => here.reduce((total, one) => total + BigInt(read(one)), 0n)
    const wallet = await ledger.walletBalance(user, token)
    const made = wallet + sum((one) => one.deposited) - sum((one) => one.yield_earned_realized) - wholeMillion(pool)
    // A withdrawal that a rounding on chain makes smaller than its principal has no negative yield.
    const withdrawals = transactions.filter(({ type }) => type === 'withdrawal').length
    expect(made, `${pool.token_symbol} of ${user.external_id}`).toSatisfy(
      (units: bigint) => units <= 0n && -units <= BigInt(withdrawals),
      `conserved within ${withdrawals} minor units`,
    )
  }
}

/** `total_balance` is what the contracts themselves say the wallet's positions are worth. */
async function expectWorth(user: EndUser): Promise<void> {
  const records = await ledger.portfolios(user)
  const shown = await listed(user.external_id)
  for (const one of shown) {
    for (const amount of [one.total_balance, one.deposited, one.yield_earned, one.yield_earned_realized]) {
      expect(amount).toMatch(/^\d+$/)
    }
    const earned = BigInt(one.total_balance) - BigInt(one.deposited) + BigInt(one.yield_earned_realized)
    expect(BigInt(one.yield_earned)).toBe(earned > 0n ? earned : 0n)
  }
  for (const pool of await ledger.pools()) {
    const here = records.filter(({ pool_id }) => pool_id === pool.pool_id).map(({ portfolio_id }) => portfolio_id)
    const total = shown
      .filter(({ portfolio_id }) => here.includes(portfolio_id))
      .reduce((sum, { total_balance }) => sum + BigInt(total_balance), 0n)
    const difference = (await worthOnChain(user, pool)) - total
    expect(difference, `${pool.pool_id} of ${user.external_id}`).toSatisfy(
      (units: bigint) => units >= -1n && units <= BigInt(here.length),
      'the worth on chain within a minor unit per portfolio',
    )
  }
}

/** Every transaction begins where the portfolio's one before it ended. */
async function expectHistory(user: EndUser): Promise<void> {
  const transactions = (await ledger.transactions(user)).reverse()
  for (const { portfolio_id, deposited } of await ledger.portfolios(user)) {
    let [principal, yieldEarned] = ['0', '0']
    for (const one of transactions.filter((transaction) => transaction.portfolio_id === portfolio_id)) {
      expect(one).toMatchObject({ deposited_amount_before: principal, yield_earned_before: yieldEarned })
      expect(BigInt(one.amount_changed)).toBeGreaterThan(0n)
      expect(BigInt(one.yield_delta)).toBe(BigInt(one.yield_earned_after) - BigInt(one.yield_earned_before))
      ;[principal, yieldEarned] = [one.deposited_amount_after, one.yield_earned_after]
    }
    expect(deposited).toBe(principal)
  }
}

const ABI = parseAbi([
  // ReserveData as far as it counts here: five numbers of 128 bits and two smaller ones stand before the aToken.
  'function getReserveData(address) view returns ((uint256 c, uint128 i, uint128 r, uint128 b, uint128 v, uint128 s, uint40 t, uint16 id, address aToken))',
  'function balanceOf(address) view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
])

async function worthOnChain({ wallet_address }: EndUser, pool: Pool): Promise<bigint> {
  const [chain] = open.sandbox.namespace.services.chains.all()
  const client = createPublicClient({ transport: http(`${open.sandbox.baseUrl}/rpc/${chain!.chain_id}`) })
  const read = { abi: ABI, address: pool.market_address }
  if (pool.protocol === 'aave') {
    const reserve = await client.readContract({ ...read, functionName: 'getReserveData', args: [pool.token_address] })
    return client.readContract({ abi: ABI, address: reserve.aToken, functionName: 'balanceOf', args: [wallet_address] })
  }
  const shares = await client.readContract({ ...read, functionName: 'balanceOf', args: [wallet_address] })
  return client.readContract({ ...read, functionName: 'convertToAssets', args: [shares] })
}
