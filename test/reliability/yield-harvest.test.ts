import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Write } from '../../src/domain/ports/store.ts'
import type { Transaction } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { Ledger, type OpenSandbox } from './ledger.ts'
import { DAY, directory, fixturesFolder, historyOf, open, randomSeries, typesOf } from './yield-series.ts'

fixturesFolder()

// More of them: yield-harvest.long.test.ts.
randomSeries(4)

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
    let settling = false
    store.commit = async (writes) => {
      settling ||= isSettling(writes)
      if (isSettling(writes) && when === 'before') throw new Error('killed')
      await commit(writes)
      if (isSettling(writes)) throw new Error('killed')
    }
    // Its client hears that nothing is known yet, or nothing at all if the connection ends before that.
    const deposit = sandbox.acme.deposit('carol', jar, '1000000', { key }).catch(() => undefined)
    await eventually(() => expect(settling).toBe(true))
    await sandbox.stop()
    expect([503, undefined]).toContain((await deposit)?.status)
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
