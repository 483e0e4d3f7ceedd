import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { JournalFile } from '../../src/data-dir/journal-file.ts'
import { NotKeptError } from '../../src/domain/ports/journal.ts'
import { eventually } from '../helpers/eventually.ts'
import { outcome } from '../helpers/outcome.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let directory: string
let open: OpenSandbox
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'full-disk-'))
  open = await openSandbox({ dataDir: directory })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await eventually(() => expect(open.sandbox.namespace.readiness()).toEqual({ ready: true }))
})
afterAll(async () => {
  await open.stop()
  rmSync(directory, { recursive: true })
})

/** A disk cannot be filled in a test: after so many entries more, none is written until there is room again. */
function fill(entries: number) {
  const { append } = JournalFile.prototype
  let left = entries
  let refused = 0
  vi.spyOn(JournalFile.prototype, 'append').mockImplementation(function (this: JournalFile<unknown>, entry) {
    if (left-- > 0) return append.call(this, entry)
    refused++
    return Promise.reject(new NotKeptError('the disk is full'))
  })
  const makeRoom = () => {
    left = Number.POSITIVE_INFINITY
  }
  return { makeRoom, refusals: () => refused }
}

test('what cannot be kept is not done: 503 with the reason, and the same key works when there is room', async () => {
  const portfolio = await open.acme.open('carol')
  const key = randomUUID()
  const { makeRoom } = fill(0)
  const refused = await open.acme.deposit('carol', portfolio, '1000', { key })
  expect(outcome(refused)).toBe('503 service_unavailable')
  expect(refused.body.detail).toContain('the disk is full')
  makeRoom()
  const done = await open.acme.deposit('carol', portfolio, '1000', { key })
  expect(outcome(done)).toBe('200')
  expect((await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(1)
  await new Ledger(open).expectSound()
})

test.each([1, 2])(
  'a disk that is full after %i writes of a deposit delays it, and nothing is done twice',
  async (writes) => {
    const user = `user-${writes}`
    const portfolio = await open.acme.open(user)
    const key = randomUUID()
    const { makeRoom, refusals } = fill(writes)
    const deposit = open.acme.deposit(user, portfolio, '1000', { key })
    await eventually(() => expect(refusals()).toBeGreaterThan(1))
    makeRoom()
    const done = await deposit
    expect(outcome(done)).toBe('200')
    const again = await open.acme.deposit(user, portfolio, '1000', { key })
    expect(again.body).toEqual(done.body)
    expect((await open.acme.get(`end_users/${user}/transactions`)).body.data).toHaveLength(1)
    await eventually(() => expect(open.sandbox.namespace.readiness()).toEqual({ ready: true }))
    await new Ledger(open).expectSound()
  },
)
