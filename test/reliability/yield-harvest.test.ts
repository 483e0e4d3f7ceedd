import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Write } from '../../src/domain/ports/store.ts'
import type { Transaction } from '../../src/domain/records.ts'
import { writeFixture } from '../helpers/fixture-file.ts'
import type { Answer } from '../helpers/partner.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

const DAY = 24 * 60 * 60 * 1000
const POOLS = ['aave-usdc', 'morpho-usdc', 'aave-weth', 'morpho-weth']

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-harvest-'))
})
afterAll(() => rm(directory, { recursive: true }))

const open = async (yield_harvest: 'none' | 'recorded', dataDir?: string): Promise<OpenSandbox> => {
  const fixtures = await writeFixture(directory, (fixture) => {
    fixture.service = { yield_harvest }
  })
  return openSandbox({ fixtures, clock: '2030-01-01T00:00:00Z', ...(dataDir !== undefined && { dataDir }) })
}

/** What partners are shown of a portfolio's history, oldest first. */
async function historyOf({ acme }: OpenSandbox, user: string, jar: string): Promise<Transaction[]> {
  const { data } = (await acme.get(`end_users/${user}/transactions?limit=100`)).body
  return data.filter(({ portfolio_id }: Transaction) => portfolio_id === jar).reverse()
}

const typesOf = (history: readonly Transaction[]) => history.map(({ type }) => type)

type Move = { portfolio: number; days: number } & ({ deposit: bigint } | { withdraw: number })

const place = { portfolio: fc.nat({ max: POOLS.length - 1 }), days: fc.integer({ min: 0, max: 400 }) }
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ ...place, deposit: fc.oneof(...[10n ** 3n, 10n ** 12n].map((max) => fc.bigInt({ min: 10n, max }))) }),
  // Of a thousand parts of what it is worth; all of it is not rare.
  fc.record({ ...place, withdraw: fc.oneof(fc.integer({ min: 0, max: 1000 }), fc.constant(1000)) }),
)

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
      { numRuns: 12 },
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

describe('a sandbox that dies', () => {
  let data: string
  let sandbox: OpenSandbox
  let jar: string
  beforeEach(async () => {
    data = `${directory}/${randomUUID()}`
  })
  afterEach(() => sandbox.stop())

  /** A portfolio that has earned for a year. */
  async function begin(yield_harvest: 'none' | 'recorded'): Promise<void> {
    sandbox = await open(yield_harvest, data)
    jar = await sandbox.acme.open('carol')
    await sandbox.acme.deposit('carol', jar, '5000000')
    sandbox.sandbox.namespace.services.service.clock.advance(365 * DAY)
  }

  /** Starts another sandbox on what this one has written; `when` a commit settles a transfer, it is the last one. */
  async function dieSettling(when: 'before' | 'after', key: string, next: 'none' | 'recorded'): Promise<void> {
    const { store } = sandbox.sandbox.namespace.services.service
    const commit = store.commit.bind(store)
    const isSettling = (writes: readonly Write[]) => writes.some(({ collection }) => collection === 'transactions')
    store.commit = async (writes) => {
      if (isSettling(writes) && when === 'before') throw new Error('killed')
      await commit(writes)
      if (isSettling(writes)) throw new Error('killed')
    }
    expect((await sandbox.acme.deposit('carol', jar, '1000000', { key })).status).toBe(500)
    await sandbox.stop()
    sandbox = await open(next, data)
  }

  test.each(['before', 'after'] as const)('%s the two records are written: both are there once', async (when) => {
    await begin('recorded')
    const key = randomUUID()
    await dieSettling(when, key, 'recorded')
    const history = await historyOf(sandbox, 'carol', jar)
    expect(typesOf(history)).toEqual(['deposit', 'yield_harvest', 'deposit'])
    const replay = await sandbox.acme.deposit('carol', jar, '1000000', { key })
    expect([replay.status, replay.headers.get('idempotency-key-replay')]).toEqual([200, 'true'])
    expect(replay.body.yield_earned).toBe(history[2]!.yield_earned_after)
    expect(await historyOf(sandbox, 'carol', jar)).toEqual(history)
    await new Ledger(sandbox).expectAudited()
  })

  test('the record says what it would have said', async () => {
    await begin('recorded')
    const [pool] = (await sandbox.acme.get('pools')).body.data
    const key = randomUUID()
    // What the market has become meanwhile is not asked: the quote was kept with the signed transfer.
    await dieSettling('before', key, 'recorded')
    const [, harvest] = await historyOf(sandbox, 'carol', jar)
    expect(harvest).toMatchObject({ aave_apy: pool.apy, fx_rate_usd: '1.00' })
    expect((await sandbox.acme.get('pools')).body.data[0].apy).not.toBe(pool.apy)
  })

  test('a transfer signed without a quote, as before there were any, is recorded alone; the next one has its yield', async () => {
    await begin('none')
    await dieSettling('before', randomUUID(), 'recorded')
    expect(typesOf(await historyOf(sandbox, 'carol', jar))).toEqual(['deposit', 'deposit'])
    sandbox.sandbox.namespace.services.service.clock.advance(365 * DAY)
    await sandbox.acme.withdraw('carol', jar, '1000')
    const history = await historyOf(sandbox, 'carol', jar)
    expect(typesOf(history)).toEqual(['deposit', 'deposit', 'yield_harvest', 'withdrawal'])
    await new Ledger(sandbox).expectAudited()
  })
})

describe('the audit', () => {
  let sandbox: OpenSandbox
  beforeAll(async () => {
    sandbox = await open('recorded')
  })
  afterAll(() => sandbox.stop())

  const DAMAGE: [what: string, damage: Partial<Transaction>, found: RegExp][] = [
    ['another amount', { amount_changed: '1' }, /is of another amount than its yield_delta/],
    ['the hash of no transfer', { tx_hash: `0x${'ab'.repeat(32)}` }, /is not followed by the transfer it names/],
    ['a changed principal', { deposited_amount_after: '7' }, /changes the principal from 5000000 to 7/],
  ]
  test.each(DAMAGE)('names a record of yield with %s', async (_, damage, found) => {
    const user = `user-${randomUUID()}`
    const jar = await sandbox.acme.open(user)
    await sandbox.acme.deposit(user, jar, '5000000')
    sandbox.sandbox.namespace.services.service.clock.advance(365 * DAY)
    await sandbox.acme.deposit(user, jar, '5000000')
    await new Ledger(sandbox).expectAudited()
    const { store } = sandbox.sandbox.namespace.services.service
    const [, harvest] = await historyOf(sandbox, user, jar)
    const put = (await store.get('transactions', harvest!.id))!
    await store.commit([{ collection: 'transactions', put: { ...put, ...damage } }])
    const { checks } = await sandbox.sandbox.namespace.audit()
    expect(checks.find(({ id }) => id === 'principal')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(found),
    })
    await store.commit([{ collection: 'transactions', put }])
  })
})
