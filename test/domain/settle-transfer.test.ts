import { beforeEach, describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Idempotency } from '../../src/domain/idempotency.ts'
import { InvariantError } from '../../src/domain/invariants.ts'
import { poolOf } from '../../src/domain/portfolios.ts'
import { type Chain, ChainUnavailableError, type MinedTransfer } from '../../src/domain/ports/chain.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import type { Claim, Transfer } from '../../src/domain/records.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import { settleTransfer } from '../../src/domain/settle-transfer.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { type RecordedLog, recordedLog } from '../auth/partner.ts'
import { MemoryJournal } from '../store/memory-journal.ts'
import { moment, portfolio } from '../store/samples.ts'

const before = portfolio('jar_1', { deposited: '100', yield_earned_synced: '4', shares: '100' })
const claim: Claim = { id: 'acme/key', fingerprint: 'abc', request_id: 'req_1', instance: '/' }
const transfer: Transfer = {
  id: 'txn_2',
  end_user_id: 'alice',
  portfolio_id: 'jar_1',
  type: 'withdrawal',
  chain_id: '31337',
  tx_hash: '0x02',
  raw_transaction: '0x',
  amount: '55',
  value_before: '110',
  block_timestamp: 0,
  claim,
  signed_at: moment(0),
}
const quote = { id: 'txn_1', fx_rate_usd: '1.00', aave_apy: '0.04' }
/** Half of a position of 110, on which 10 were earned. */
const mined: MinedTransfer = {
  tx_hash: '0x02',
  block_number: 7,
  block_timestamp: 0,
  status: 'success',
  amount: 55n,
  shares: 50n,
  value_before: 110n,
}

let store: Store
let log: RecordedLog
let cancel: AbortController
/** What the chain does when it is asked what is left; no Anvil can be lost at just this moment. */
let worth: () => Promise<bigint>
const clock = new SandboxClock(Date.parse(moment(9)))

beforeEach(async () => {
  store = await createStore()
  log = recordedLog()
  cancel = new AbortController()
  worth = async () => 56n
})

/** Books the transfer, as it stands in the ledger with these changes. */
async function settle(found: Partial<MinedTransfer> = {}, changes: Partial<Transfer> = {}) {
  await store.commit([
    { collection: 'portfolios', put: before },
    { collection: 'transfers', put: { ...transfer, ...changes } },
  ])
  return book(found)
}

function book(found: Partial<MinedTransfer> = {}) {
  const render = () => ({ status: 422, body: 'reverted' })
  const idempotency = new Idempotency({ store, clock, settings: DEFAULT_SETTINGS, render })
  const respond = ({ balances }: { balances: object }) => ({ status: 200, body: balances })
  const chain = {
    async values(positions) {
      expect(positions).toEqual([{ pool: poolOf(before), shares: 50n }])
      return [await worth()]
    },
  } as Partial<Chain> as Chain
  return settleTransfer(
    { id: 'txn_2', mined: { ...mined, ...found }, chain, cancelled: cancel.signal },
    { store, clock, idempotency, respond, log },
  )
}

const left = async () => ({
  transfer: await store.get('transfers', 'txn_2'),
  portfolio: await store.get('portfolios', 'jar_1'),
  transactions: (await store.page('transactions', { scope: 'alice', limit: 9 })).items,
  kept: await store.get('idempotency_keys', claim.id),
})

const BALANCES = { deposited: '50', yield_earned: '11', yield_earned_realized: '5', total_balance: '56' }
const BOOKED = {
  transfer: undefined,
  portfolio: {
    ...before,
    deposited: '50',
    yield_earned_realized: '5',
    yield_earned_synced: '11',
    last_transaction_id: 'txn_2',
    shares: '50',
    updated_at: moment(9),
  },
  transactions: [
    {
      id: 'txn_2',
      tenant_id: 'acme',
      end_user_id: 'alice',
      portfolio_id: 'jar_1',
      type: 'withdrawal',
      amount_changed: '55',
      yield_delta: '7',
      deposited_amount_before: '100',
      deposited_amount_after: '50',
      yield_earned_before: '4',
      yield_earned_after: '11',
      tx_hash: '0x02',
      idempotency_id: claim.id,
      created_at: moment(9),
    },
  ],
  kept: { id: claim.id, fingerprint: 'abc', status: 200, body: BALANCES, created_at_ms: Date.parse(moment(9)) },
}

describe('a mined transfer', () => {
  test('is booked with its portfolio, its response, and the end of its record', async () => {
    expect(await settle()).toEqual({ status: 200, body: BALANCES })
    expect(await left()).toEqual(BOOKED)
  })

  test('has the yield before it recorded first, when that is asked for', async () => {
    await settle({}, { harvest: quote })
    const [booked, harvested, ...more] = (await left()).transactions
    expect(booked).toEqual({ ...BOOKED.transactions[0], yield_delta: '1', yield_earned_before: '10' })
    expect(harvested).toEqual({
      ...BOOKED.transactions[0],
      ...quote,
      type: 'yield_harvest',
      amount_changed: '6',
      yield_delta: '6',
      deposited_amount_after: '100',
      yield_earned_after: '10',
      idempotency_id: null,
    })
    expect(more).toEqual([])
  })

  test('has no yield recorded before it when there was none', async () => {
    await settle({ value_before: 104n }, { harvest: quote })
    expect((await left()).transactions).toHaveLength(1)
  })

  test('of the fixture is nobody’s to repeat', async () => {
    await settle({}, { claim: null })
    expect(await left()).toMatchObject({ transactions: [{ id: 'txn_2', idempotency_id: null }], kept: undefined })
  })

  test('cannot be booked twice', async () => {
    await settle()
    await expect(book()).rejects.toThrow('there is no txn_2 in transfers')
    expect(await left()).toEqual(BOOKED)
  })
})

describe('a transfer that would leave less than nothing', () => {
  test.each<[string, Partial<MinedTransfer>, string]>([
    ['shares', { shares: 101n }, 'shares of portfolio jar_1 must be 0 or more; found -1'],
    ['principal', { amount: 120n }, 'deposited of portfolio jar_1 must be 0 or more; found -9'],
  ])('of %s is not booked, and says what broke', async (_what, found, message) => {
    const broken = await settle(found).catch((error: unknown) => error)
    expect(broken).toBeInstanceOf(InvariantError)
    expect(broken).toMatchObject({ code: 'invariant_broken', message })
    expect(await left()).toEqual({ transfer, portfolio: before, transactions: [], kept: undefined })
  })
})

describe('a reverted transfer', () => {
  test('moves nothing, and is answered so under its key', async () => {
    expect(await settle({ status: 'reverted' })).toMatchObject({
      code: 'transaction_reverted',
      details: { detail: 'The transaction 0x02 stands in block 7 as reverted; no funds moved.' },
    })
    expect(await left()).toMatchObject({
      transfer: undefined,
      portfolio: before,
      transactions: [],
      kept: { status: 422, body: 'reverted' },
    })
  })

  test('of the fixture leaves nothing', async () => {
    await settle({ status: 'reverted' }, { claim: null })
    expect(await left()).toMatchObject({ transfer: undefined, kept: undefined })
  })
})

describe('when the money has moved', () => {
  /** A task that fails so often first. */
  function failing<Result>(times: number, error: Error, task: (...given: never[]) => Promise<Result>) {
    return async (...given: never[]) => {
      if (times-- > 0) throw error
      return task(...given)
    }
  }

  const lost = new ChainUnavailableError('31337', 'it does not answer')

  test('a chain that is lost is waited for, and logged once', async () => {
    worth = failing(2, lost, worth)
    expect(await settle()).toEqual({ status: 200, body: BALANCES })
    expect(await left()).toEqual(BOOKED)
    expect(log.lines.map(({ message }) => message)).toEqual([
      'a confirmed transfer waits for the chain',
      'transfer settled',
    ])
    expect(log.lines[0]?.fields).toEqual({ reason: lost.message, transaction_id: 'txn_2' })
  })

  test('a disk that is full is waited for, and logged once', async () => {
    const journal = new MemoryJournal()
    store = await createStore(journal)
    worth = async () => {
      journal.failing = true
      return 56n
    }
    const settling = settle()
    await expect
      .poll(() => log.lines)
      .toEqual([
        {
          fields: { reason: 'the disk is full', transaction_id: 'txn_2' },
          message: 'a confirmed transfer waits to be written',
        },
      ])
    journal.failing = false
    expect(await settling).toEqual({ status: 200, body: BALANCES })
    expect(await left()).toEqual(BOOKED)
  })

  test('any other error is thrown, and nothing booked', async () => {
    const failure = new TypeError('a fault of the program')
    worth = () => Promise.reject(failure)
    await expect(settle()).rejects.toBe(failure)
    expect(await left()).toMatchObject({ transfer, portfolio: before, transactions: [], kept: undefined })
  })

  test('nobody waits after a reset', async () => {
    worth = async () => {
      cancel.abort()
      throw lost
    }
    await expect(settle()).rejects.toBe(lost)
    worth = failing(1, lost, worth)
    cancel = new AbortController()
    const settling = settle()
    await expect.poll(() => log.lines.length).toBe(1)
    cancel.abort()
    await expect(settling).rejects.toBe(lost)
    expect(await left()).toMatchObject({ transfer, portfolio: before, transactions: [], kept: undefined })
  })
})
