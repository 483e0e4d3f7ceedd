import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../src/domain/records.ts'
import { writeFixture } from '../helpers/fixture-file.ts'
import type { Answer } from '../helpers/partner.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

export const DAY = 24 * 60 * 60 * 1000
const POOLS = ['aave-usdc', 'morpho-usdc', 'aave-weth', 'morpho-weth']

export let directory: string

/** Makes the folder of a file's fixtures, and removes it afterwards. */
export function fixturesFolder(): void {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-harvest-'))
  })
  afterAll(() => rm(directory, { recursive: true }))
}

export const open = async (yield_harvest: 'none' | 'recorded', dataDir?: string): Promise<OpenSandbox> => {
  const fixtures = await writeFixture(directory, (fixture) => {
    fixture.service = { yield_harvest }
  })
  return openSandbox({ fixtures, clock: '2030-01-01T00:00:00Z', ...(dataDir !== undefined && { dataDir }) })
}

/** What partners are shown of a portfolio's history, oldest first. */
export async function historyOf({ acme }: OpenSandbox, user: string, jar: string): Promise<Transaction[]> {
  const { data } = (await acme.get(`end_users/${user}/transactions?limit=100`)).body
  return data.filter(({ portfolio_id }: Transaction) => portfolio_id === jar).reverse()
}

export const typesOf = (history: readonly Transaction[]) => history.map(({ type }) => type)

type Move = { portfolio: number; days: number } & ({ deposit: bigint } | { withdraw: number })

const place = { portfolio: fc.nat({ max: POOLS.length - 1 }), days: fc.integer({ min: 0, max: 400 }) }
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ ...place, deposit: fc.oneof(...[10n ** 3n, 10n ** 12n].map((max) => fc.bigInt({ min: 10n, max }))) }),
  // Of a thousand parts of what it is worth; all of it is not rare.
  fc.record({ ...place, withdraw: fc.oneof(fc.integer({ min: 0, max: 1000 }), fc.constant(1000)) }),
)

const start: Move = { portfolio: 0, days: 0, deposit: 10n ** 9n }

/** Checks what is recorded of yield after so many random series, the first of which has a yield. */
export function randomSeries(numRuns: number): void {
  describe('random series', () => {
    let sandbox: OpenSandbox
    beforeAll(async () => {
      sandbox = await open('recorded')
    })
    afterAll(() => sandbox.stop())

    async function carryOut(move: Move, jar: string): Promise<Answer | undefined> {
      const { acme } = sandbox
      if ('deposit' in move) return acme.deposit('carol', jar, move.deposit.toString())
      const { data } = (await acme.get('end_users/carol/portfolios')).body
      const worth = BigInt(data.find((one: { portfolio_id: string }) => one.portfolio_id === jar).total_balance)
      const amount = (worth * BigInt(move.withdraw)) / 1000n
      return amount > 0n ? acme.withdraw('carol', jar, amount.toString()) : undefined
    }

    test('records add up: to the yield of every response, with each transfer left its own rounding', async () => {
      const { clock } = sandbox.sandbox.namespace.services.service
      let harvests = 0
      await fc.assert(
        fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 12 }), async (moves) => {
          await sandbox.sandbox.namespace.reset()
          clock.freeze()
          const jars: string[] = []
          for (const pool of POOLS) jars.push(await sandbox.acme.open('carol', pool))
          for (const move of moves) {
            clock.advance(move.days * DAY)
            const jar = jars[move.portfolio]!
            const answer = await carryOut(move, jar)
            if (answer?.status === 200) expectAddsUp(await historyOf(sandbox, 'carol', jar), answer)
          }
          harvests += (await expectHistories(jars)).filter((type) => type === 'yield_harvest').length
          await new Ledger(sandbox).expectAudited()
        }),
        { numRuns, examples: [[[start, { ...start, days: 365 }]]] },
      )
      expect(harvests).toBeGreaterThan(0) // or nothing was compared
    })

    test('of transfers at once, each has its record directly before it, on whatever page', async () => {
      await sandbox.sandbox.namespace.reset()
      sandbox.sandbox.namespace.services.service.clock.freeze()
      const jars = await Promise.all([...POOLS, ...POOLS].map((pool) => sandbox.acme.open('carol', pool)))
      const depositAll = () => Promise.all(jars.map((jar) => sandbox.acme.deposit('carol', jar, '5000000')))
      await depositAll()
      sandbox.sandbox.namespace.services.service.clock.advance(365 * DAY)
      await depositAll()
      const listed = await walk('carol', 3)
      expect(listed).toEqual((await sandbox.acme.get('end_users/carol/transactions?limit=100')).body.data)
      const harvests = listed.filter(({ type }) => type === 'yield_harvest')
      expect(harvests).toHaveLength(jars.length)
      for (const harvest of harvests) {
        const { tx_hash, portfolio_id } = listed[listed.indexOf(harvest) - 1]!
        expect(harvest).toMatchObject({ tx_hash, portfolio_id })
      }
    })

    async function walk(user: string, limit: number): Promise<Transaction[]> {
      const found: Transaction[] = []
      for (let after = ''; ; ) {
        const { body } = await sandbox.acme.get(`end_users/${user}/transactions?limit=${limit}${after}`)
        found.push(...body.data)
        if (!body.has_more) return found
        after = `&starting_after=${body.next_cursor}`
      }
    }

    function expectAddsUp(history: readonly Transaction[], { body }: Answer): void {
      const last = history.at(-1)!
      expect([last.id, last.yield_earned_after]).toEqual([body.transaction_id, body.yield_earned])
      const sum = history.reduce((total, { yield_delta }) => total + BigInt(yield_delta), 0n)
      expect(sum).toBe(BigInt(body.yield_earned))
    }

    async function expectHistories(jars: readonly string[]): Promise<string[]> {
      const histories = await Promise.all(jars.map((jar) => historyOf(sandbox, 'carol', jar)))
      for (const history of histories) {
        for (const [i, record] of history.entries()) {
          const delta = BigInt(record.yield_delta)
          if (record.type !== 'yield_harvest') {
            expect(delta, `${record.type} ${record.amount_changed}`).toSatisfy((n: bigint) => n >= -2n && n <= 2n)
            continue
          }
          const { tx_hash, created_at } = history[i + 1]!
          expect(record).toMatchObject({ tx_hash, created_at, amount_changed: record.yield_delta })
          expect(record.deposited_amount_after).toBe(record.deposited_amount_before)
          expect(delta).toBeGreaterThan(0n)
        }
      }
      return histories.flatMap(typesOf)
    }
  })
}
