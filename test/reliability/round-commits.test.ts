import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { JournalFile } from '../../src/data-dir/journal-file.ts'
import { NotKeptError } from '../../src/domain/ports/journal.ts'
import type { EndUser } from '../../src/domain/records.ts'
import type { LedgerChanges } from '../../src/store/ledger-entry.ts'
import { rpc } from '../chain/chain-fixture.ts'
import { outcome } from '../helpers/outcome.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

const PORTFOLIOS = 32
let directory: string
let open: OpenSandbox
let alice: EndUser
let portfolios: string[]
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'round-commits-'))
  // Its clock stands still, or a read of the height has a block of the next second mined first.
  open = await openSandbox({ dataDir: directory, clock: '2030-01-01T00:00:00Z' })
  portfolios = await Promise.all(Array.from({ length: PORTFOLIOS }, () => open.acme.open('alice')))
  alice = (await new Ledger(open).users()).find(({ external_id }) => external_id === 'alice')!
})
afterEach(async () => {
  vi.restoreAllMocks()
  await new Ledger(open).expectSound()
})
afterAll(async () => {
  await open.stop()
  rmSync(directory, { recursive: true })
})

const { append } = JournalFile.prototype
const chain = () => open.sandbox.namespace.services.chains.started!.all()[0]!

/** How many transfers an entry of the ledger begins, and how many it ends; undefined for an entry of another journal. */
function transfersIn(entry: Partial<LedgerChanges>): { signed: number; settled: number } | undefined {
  if (!entry.puts || !entry.removes) return undefined
  const ofTransfers = ([collection]: readonly [string, ...unknown[]]) => collection === 'transfers'
  return { signed: entry.puts.filter(ofTransfers).length, settled: entry.removes.filter(ofTransfers).length }
}

/** Has each entry of the ledger with transfers written by `take`; an error that it throws is the disk's. */
function onAppend(
  take: (transfers: { signed: number; settled: number }, write: () => Promise<void>) => Promise<void>,
): void {
  vi.spyOn(JournalFile.prototype, 'append').mockImplementation(async function (this: JournalFile<unknown>, entry) {
    const write = () => append.call(this, entry)
    const transfers = transfersIn(entry as Partial<LedgerChanges>)
    return transfers && transfers.signed + transfers.settled > 0 ? take(transfers, write) : write()
  })
}

/** Deposits into all portfolios in one turn of the event loop, so that one block has them all. */
function depositInAll(amountOf: (nth: number) => bigint) {
  const { transfers } = open.sandbox.namespace.services.service
  const deposits = portfolios.map((portfolio_id, nth) =>
    transfers.run({ type: 'deposit', user: alice, portfolio_id, amount: amountOf(nth), onPhase: async () => {} }),
  )
  return Promise.allSettled(deposits)
}

const nonce = () => new Ledger(open).nonce(alice)

test('what a block carries is stored in one write, and nobody has a byte of it before', async () => {
  const appends: unknown[] = []
  const pools: unknown[] = []
  onAppend(async (transfers, write) => {
    appends.push(transfers)
    if (transfers.signed > 0) pools.push(await rpc(chain(), 'txpool_status'))
    await write()
  })
  for (const { status } of await depositInAll(() => 1_000n)) expect(status).toBe('fulfilled')
  // Without confirmation delay, they are booked together as well.
  expect(appends).toEqual([
    { signed: PORTFOLIOS, settled: 0 },
    { signed: 0, settled: PORTFOLIOS },
  ])
  expect(pools).toEqual([{ pending: '0x0', queued: '0x0' }])
})

test('one that the wallet cannot pay fails alone, and leaves no gap in the nonces', async () => {
  const before = await nonce()
  const stored: number[] = []
  onAppend(({ signed }, write) => {
    if (signed > 0) stored.push(signed)
    return write()
  })
  const results = await depositInAll((nth) => (nth === 7 ? 10n ** 30n : 1_000n))
  const failed = results.flatMap((result, nth) => (result.status === 'rejected' ? [[nth, result.reason.code]] : []))
  expect(failed).toEqual([[7, 'insufficient_balance']])
  expect(stored).toEqual([PORTFOLIOS - 1])
  expect(await nonce()).toBe(before + PORTFOLIOS - 1)
})

test('if that write fails, none of them is broadcast, each is refused, and the next block takes their nonces', async () => {
  const before = await nonce()
  const height = await rpc(chain(), 'eth_blockNumber')
  onAppend(() => Promise.reject(new NotKeptError('the disk is full')))
  for (const result of await depositInAll(() => 1_000n)) {
    expect(result).toEqual({ status: 'rejected', reason: new NotKeptError('the disk is full') })
  }
  expect(await rpc(chain(), 'eth_blockNumber')).toBe(height)
  expect(await rpc(chain(), 'txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
  vi.restoreAllMocks()
  for (const { status } of await depositInAll(() => 1_000n)) expect(status).toBe('fulfilled')
  expect(await nonce()).toBe(before + PORTFOLIOS)
})

test('money that moved is booked whatever error the journal has first: the client is not told that it did not', async () => {
  const portfolio = portfolios[0]!
  const before = await nonce()
  const key = randomUUID()
  const attempts: string[] = []
  onAppend(async ({ settled }, write) => {
    if (settled === 0) return write()
    attempts.push('booked')
    if (attempts.length === 1) throw new TypeError('nothing was written')
    await write()
    if (attempts.length === 2) throw new TypeError('written, but who knows')
  })
  const done = await open.acme.deposit('alice', portfolio, '1000', { key })
  expect(outcome(done)).toBe('200')
  expect(attempts).toHaveLength(3)
  expect((await open.acme.deposit('alice', portfolio, '1000', { key })).body).toEqual(done.body)
  expect(await nonce()).toBe(before + 1)
})

test('before anything is broadcast, such an error fails the deposit, and its key can be used again', async () => {
  const portfolio = portfolios[0]!
  const before = await nonce()
  const key = randomUUID()
  onAppend(() => Promise.reject(new TypeError('nothing was written')))
  expect(outcome(await open.acme.deposit('alice', portfolio, '1000', { key }))).toBe('500 internal_error')
  expect(await nonce()).toBe(before)
  vi.restoreAllMocks()
  expect(outcome(await open.acme.deposit('alice', portfolio, '1000', { key }))).toBe('200')
  expect(await nonce()).toBe(before + 1)
})
