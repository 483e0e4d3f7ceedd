import { beforeEach, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { NotKeptError } from '../../src/domain/ports/journal.ts'
import type { Showing } from '../../src/domain/records.ts'
import { Showings } from '../../src/domain/showings.ts'
import { recordedLog } from '../auth/partner.ts'
import { silent } from '../chain/chain-fixture.ts'
import { MemoryJournal } from '../store/memory-journal.ts'

let journal: MemoryJournal<Showing[]>
beforeEach(() => {
  journal = new MemoryJournal()
})

const open = () => Showings.open({ journal, clock: new SandboxClock(), log: silent })

/** A portfolio after its transaction of that id, as a list shows it. */
function worth(total_balance: string, last_transaction_id: string | null = null, portfolio_id = 'jar_1'): Showing {
  return { portfolio_id, last_transaction_id, total_balance, request_id: `req_${total_balance}` }
}

const lastOf = (showings: Showings, { portfolio_id, last_transaction_id }: Showing) =>
  showings.of({ portfolio_id, last_transaction_id })?.total_balance

test('the last list counts, until a transfer is answered', async () => {
  const showings = await open()
  expect(lastOf(showings, worth('', null))).toBeUndefined()
  for (const total of ['10', '11']) showings.note([worth(total), worth(`${total}0`, 'txn_7', 'jar_2')])
  expect(lastOf(showings, worth('', null))).toBe('11')
  expect(lastOf(showings, worth('', 'txn_7', 'jar_2'))).toBe('110')
  expect(lastOf(showings, worth('', 'txn_8', 'jar_2'))).toBeUndefined()
})

test('a repeated answer shows its total to who has seen nothing of it, and nothing anew to who has', async () => {
  const showings = await open()
  showings.note([worth('10', 'txn_1')], { again: true })
  expect(lastOf(showings, worth('', 'txn_1'))).toBe('10')
  showings.note([worth('11', 'txn_1')])
  showings.note([worth('10', 'txn_1')], { again: true })
  expect(showings.of({ portfolio_id: 'jar_1', last_transaction_id: 'txn_1' })).toEqual(worth('11', 'txn_1'))
})

test('a list that was read before a transfer takes nothing from one that was read after it', async () => {
  const showings = await open()
  showings.note([worth('20', 'txn_2')])
  for (const stale of [null, 'txn_1']) showings.note([worth('10', stale)])
  expect(lastOf(showings, worth('', 'txn_2'))).toBe('20')
  showings.note([worth('30', 'txn_3')])
  expect(lastOf(showings, worth('', 'txn_3'))).toBe('30')
})

test('a thousand lists are written down once, by themselves, as are later ones, and read again', async () => {
  const showings = await open()
  for (let i = 1; i <= 1_000; i++) showings.note([worth(String(i)), worth(String(i * 2), 'txn_1', 'jar_2')])
  expect(journal.lines).toEqual([])
  await expect.poll(() => journal.lines.length).toBe(1)
  showings.note([worth('1000')])
  await expect.poll(() => journal.lines.length).toBe(2)
  const again = await open()
  expect(lastOf(again, worth('', null))).toBe('1000')
  expect(lastOf(again, worth('', 'txn_1', 'jar_2'))).toBe('2000')
})

test('what could not be written is written with the next, unless something else was shown', async () => {
  const showings = await open()
  showings.note([worth('1'), worth('2', null, 'jar_2')])
  journal.failing = true
  await showings.keep()
  journal.failing = false
  showings.note([worth('3')])
  await showings.keep()
  const again = await open()
  expect([lastOf(again, worth('')), lastOf(again, worth('', null, 'jar_2'))]).toEqual(['3', '2'])
})

test('what is shown while it is written is not undone when writing fails', async () => {
  const showings = await open()
  showings.note([worth('1')])
  const letGo = journal.hold()
  const kept = showings.keep()
  showings.note([worth('2')])
  journal.failing = true
  letGo()
  await kept
  journal.failing = false
  await showings.keep()
  expect(lastOf(await open(), worth(''))).toBe('2')
})

test('the log says why something could not be written', async () => {
  const log = recordedLog()
  const showings = await Showings.open({ journal, clock: new SandboxClock(), log })
  showings.note([worth('1')])
  journal.failing = true
  await showings.keep()
  expect(log.lines).toEqual([
    { fields: { err: new NotKeptError('the disk is full') }, message: expect.stringContaining('tried again') },
  ])
})

test('without a journal, what was shown is known all the same', async () => {
  const showings = await Showings.open({ journal: undefined, clock: new SandboxClock(), log: silent })
  showings.note([worth('1')])
  await showings.keep()
  expect(lastOf(showings, worth(''))).toBe('1')
  await showings.clear()
  expect(lastOf(showings, worth(''))).toBeUndefined()
})

const shownIn = ({ lines }: MemoryJournal<Showing[]>) => lines.flatMap((line) => JSON.parse(line) as Showing[])

test('only what was listed anew is written, until most of the journal is superseded', async () => {
  const all = Array.from({ length: 2_000 }, (_, i) => worth('1', null, `jar_${i}`))
  const first = await open()
  for (let written = all.length; written <= 14_000; written += all.length) {
    first.note(all)
    await first.keep()
    expect(shownIn(journal)).toHaveLength(written)
  }
  const again = await open()
  again.note([worth('2', null, 'jar_7')])
  await again.keep()
  expect(shownIn(journal)).toHaveLength(14_001)
  // The last that are allowed: twice the portfolios and 10,000 more are 14,000.
  again.note([worth('3', null, 'jar_7')])
  await again.keep()
  expect(shownIn(journal)).toHaveLength(2_000)
  const rewritten = await open()
  expect([1, 7].map((n) => lastOf(rewritten, worth('', null, `jar_${n}`)))).toEqual(['1', '3'])
})

test('the journal does not grow with the number of lists', async () => {
  const showings = await open()
  const jars = Array.from({ length: 2_500 }, (_, i) => `jar_${i}`)
  for (let round = 1; round <= 20; round++) {
    showings.note(jars.map((id) => worth(String(round), null, id)))
    await showings.keep()
  }
  const written = journal.lines.flatMap((line) => JSON.parse(line) as Showing[])
  expect(written.length).toBeLessThan(20_000)
  const again = await open()
  for (const id of jars) expect(lastOf(again, worth('', null, id))).toBe('20')
})

test('a reset forgets everything, also what was not written yet', async () => {
  const showings = await open()
  showings.note([worth('1')])
  await showings.keep()
  showings.note([worth('2')])
  await showings.clear()
  await showings.keep()
  expect(lastOf(showings, worth(''))).toBeUndefined()
  expect(journal.lines).toEqual([])
})

test('what transfers showed is written down without waiting, with all that comes meanwhile', async () => {
  const still = Object.assign(new SandboxClock(), { wallSleep: () => new Promise<void>(() => undefined) })
  const showings = await Showings.open({ journal, clock: still, log: silent })
  for (let i = 1; i <= 100; i++) showings.note([worth(String(i), `txn_${i + 100}`)], { ofTransfer: true })
  await expect.poll(async () => lastOf(await open(), worth('', 'txn_200'))).toBe('100')
  expect(journal.lines.length).toBeLessThan(5)
})
