import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

const MINUTE = 60 * 1000
const DAY = 24 * 60 * MINUTE
/** Two portfolios of one wallet share a pool; 6 and 18 decimals, both protocols. */
const POOLS = ['aave-usdc', 'aave-usdc', 'morpho-usdc', 'aave-weth', 'morpho-weth']

let open: OpenSandbox
let ledger: Ledger
beforeAll(async () => {
  open = await openSandbox()
  ledger = new Ledger(open)
})
afterAll(() => open.stop())

type Move =
  | { kind: 'deposit'; jar: number; amount: bigint }
  | { kind: 'withdraw'; jar: number; share: number }
  | { kind: 'principal' | 'empty'; jar: number }
  | { kind: 'advance'; milliseconds: number }
  | { kind: 'list' }
  | { kind: 'tick' }

const jar = fc.nat({ max: POOLS.length - 1 })
const amount = fc.oneof(
  fc.bigInt({ min: 2n, max: 50n }),
  fc.bigInt({ min: 10n ** 6n, max: 10n ** 11n }),
  fc.bigInt({ min: 10n ** 6n, max: 10n ** 11n }),
)
const milliseconds = fc.oneof(fc.nat({ max: 10 * MINUTE }), fc.nat({ max: 400 * DAY }))
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('deposit' as const), jar, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('withdraw' as const), jar, share: fc.integer({ min: 1, max: 950 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('empty' as const, 'principal' as const), jar }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), milliseconds }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('list' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tick' as const) }) },
)

/** What the API last showed of a portfolio. */
interface Shown {
  portfolio_id: string
  total_balance: string
  deposited: string
}

/** A client of one end user that remembers what it was shown, and believes nothing else. */
class Client {
  readonly #shown = new Map<number, Shown>()
  readonly #jars: string[] = []
  constructor(readonly user: string) {}

  async begin(): Promise<void> {
    for (const pool of POOLS) this.#jars.push(await open.acme.open(this.user, pool))
    await this.list()
  }

  async list(): Promise<void> {
    const { data } = (await open.acme.get(`end_users/${this.user}/portfolios`)).body
    for (const item of data as Shown[]) this.#shown.set(this.#jars.indexOf(item.portfolio_id), item)
  }

  async carryOut(move: Move): Promise<void> {
    const { clock } = open.sandbox.namespace.services.service
    if (move.kind === 'list') return this.list()
    if (move.kind === 'advance') return clock.advance(move.milliseconds)
    if (move.kind === 'tick') {
      const next = Math.floor(clock.now() / 1000) + 1
      await eventually(() => expect(clock.now()).toBeGreaterThanOrEqual(next * 1000))
      return
    }
    const shown = this.#shown.get(move.jar)!
    const worth = BigInt(shown.total_balance)
    if (move.kind === 'deposit') return this.#transfer('deposit', move.jar, move.amount)
    if (move.kind === 'withdraw') return this.#transfer('withdraw', move.jar, (worth * BigInt(move.share)) / 1000n)
    if (move.kind === 'principal') return this.#transfer('withdraw', move.jar, BigInt(shown.deposited))
    return this.#transfer('withdraw', move.jar, worth)
  }

  async #transfer(operation: 'deposit' | 'withdraw', jar: number, amount: bigint): Promise<void> {
    if (amount === 0n) return
    const { total_balance } = this.#shown.get(jar)!
    const { status, body } = await open.acme[operation](this.user, this.#jars[jar]!, amount.toString())
    // Rounding may leave a position below its principal; decades of interest make a unit too little for a share.
    const refused = ['insufficient_balance', 'transaction_reverted', 'amount_too_small'].includes(body.code)
    const everything = operation === 'withdraw' && amount.toString() === total_balance
    if (status === 422 && refused && !everything) return
    expect({ status, body }).toMatchObject({ status: 200 })
    this.#shown.set(jar, body)
    const [record] = (await open.acme.get(`end_users/${this.user}/transactions?limit=1`)).body.data
    expect(record.id).toBe(body.transaction_id)
    expect(record).toMatchObject({ yield_earned_after: body.yield_earned, deposited_amount_after: body.deposited })
    if (everything) {
      expect(body).toMatchObject({ total_balance: '0', deposited: '0' })
    } else if (record.amount_changed !== amount.toString()) {
      // Within a minor unit of the worth, it was everything.
      expect(body).toMatchObject({ total_balance: '0', deposited: '0' })
      expect(Math.abs(Number(BigInt(record.amount_changed) - amount))).toBe(1)
    }
  }

  /** Each record begins where the one before it ended, and what they add is the yield. */
  async expectRecordsToAddUp(): Promise<void> {
    const { data } = (await open.acme.get(`end_users/${this.user}/transactions?limit=100`)).body
    for (const [jar, portfolio] of this.#jars.entries()) {
      let [deposited, earned, sum] = ['0', '0', 0n]
      for (const record of data.filter((one: Shown) => one.portfolio_id === portfolio).reverse()) {
        expect(record).toMatchObject({ deposited_amount_before: deposited, yield_earned_before: earned })
        expect(record.yield_delta).toBe(String(BigInt(record.yield_earned_after) - BigInt(earned)))
        ;[deposited, earned] = [record.deposited_amount_after, record.yield_earned_after]
        sum += BigInt(record.yield_delta)
      }
      expect([POOLS[jar], sum.toString(), this.#shown.get(jar)!.deposited]).toEqual([POOLS[jar], earned, deposited])
    }
  }

  /** What was emptied has no share left. */
  async expectNoDust(): Promise<void> {
    const user = (await ledger.users()).find(({ external_id }) => external_id === this.user)!
    for (const { portfolio_id, shares } of await ledger.portfolios(user)) {
      if (this.#shown.get(this.#jars.indexOf(portfolio_id))!.total_balance === '0') expect(shares).toBe('0')
    }
  }
}

test('what was last shown withdraws everything, any other amount itself, and every record says what its answer said', async () => {
  let users = 0
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 6, maxLength: 24, size: 'max' }), async (moves) => {
      const client = new Client(`client-${users++}`)
      await client.begin()
      for (const move of moves) await client.carryOut(move)
      await client.expectRecordsToAddUp()
      await client.expectNoDust()
    }),
    { numRuns: 12, endOnFailure: true },
  )
  await ledger.expectAudited()
})
