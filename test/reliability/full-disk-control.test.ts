import { expect, test, vi } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { fillDisk } from '../helpers/full-disk.ts'
import { outcome } from '../helpers/outcome.ts'
import {
  control,
  deposited,
  interruptedResets,
  open,
  openOnce,
  readiness,
  refusedMoves,
  refusedNamespaces,
  startedFromHere,
  transactions,
} from './full-disk-control.ts'

openOnce()

test('a reset without room for what it writes is refused, and has changed nothing: not now, and not after a start', async () => {
  await deposited()
  await control('faults', { kind: 'error', match: { operation: 'list_pools' }, with: { code: 'rate_limited' } })
  const { makeRoom } = await fillDisk({ bytes: 64 * 1024 })
  const refused = await control('reset')
  expect(refused.status).toBe(503)
  expect(refused.body.detail).toMatch(/nothing was done: .*the disk is full/)
  expect(readiness()).toEqual({ ready: true })
  expect(outcome(await open.acme.get('pools'))).toBe('429 rate_limited')
  expect((await transactions()).data).toHaveLength(1)
  const other = await startedFromHere()
  expect((await other.acme.get('end_users/carol/transactions')).body.data).toHaveLength(1)
  makeRoom()
  expect((await control('reset')).status).toBe(200)
  expect(await transactions()).toMatchObject({ code: 'end_user_not_found' })
})

// After other numbers of writes, and other moves: full-disk-control.long.test.ts.
interruptedResets([7])
refusedNamespaces([3])
refusedMoves([{ freeze: true, advance: '1h' }])

/** A freeze then happens later than it was planned, and is kept twice. */
function everyLookAtTheClockIsLater(): void {
  const now = Date.now
  let looks = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ++looks)
}

test.each([
  [{ advance: '8d' }, 200, ''],
  [{ freeze: true }, 503, 'The clock has moved, which is not kept yet: '],
])('a move of the clock that finds room for one write says what is so: %j', async (move, status, words) => {
  everyLookAtTheClockIsLater()
  const { makeRoom } = await fillDisk({ writes: 1, only: 'documents' })
  const answered = await control('clock', move)
  expect([answered.status, answered.body.detail ?? '']).toEqual([status, expect.stringContaining(words)])
  makeRoom()
  await open.acme.insistOnOpening('carol')
  const { state } = open.sandbox.namespace.services.service.clock
  expect((await startedFromHere()).sandbox.namespace.services.service.clock.state).toEqual(state)
})

test('a move of the clock that somebody made, and that could not be kept, is kept before what follows it', async () => {
  const portfolio = await deposited()
  const { clock } = open.sandbox.namespace.services.service
  const { makeRoom } = await fillDisk({ writes: 0 })
  clock.advance(86_400_000)
  expect((await open.acme.deposit('carol', portfolio, '1000')).status).toBe(503)
  makeRoom()
  await eventually(async () => expect((await open.acme.deposit('carol', portfolio, '1000')).status).toBe(200))
  const other = await startedFromHere()
  expect(other.sandbox.namespace.services.service.clock.state).toEqual(clock.state)
})
