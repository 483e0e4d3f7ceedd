import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { eventually } from '../helpers/eventually.ts'
import { fillDisk } from '../helpers/full-disk.ts'
import { outcome } from '../helpers/outcome.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let directory: string
let open: OpenSandbox
beforeEach(async () => {
  directory = join(temporaryDirectory(), 'data')
  open = await openSandbox({ dataDir: directory })
  onTestFinished(() => open.stop())
})
afterEach(() => vi.restoreAllMocks())

async function control(path: string, body?: unknown) {
  const response = await fetch(new URL(`/_sandbox/${path}`, open.sandbox.baseUrl), {
    method: 'POST',
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const readiness = () => open.sandbox.namespace.readiness()
const transactions = async () => (await open.acme.get('end_users/carol/transactions')).body

/** An end user with a deposit, who is not in the fixtures. */
async function deposited(): Promise<string> {
  const portfolio = await open.acme.open('carol')
  expect((await open.acme.deposit('carol', portfolio, '1000')).status).toBe(200)
  return portfolio
}

/** What a start finds after a kill at this moment; the clients of the sandbox that is open stay as they are. */
async function startedFromHere(): Promise<OpenSandbox> {
  const copy = join(temporaryDirectory(), 'data')
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  const other = await openSandbox({ dataDir: copy })
  onTestFinished(() => other.stop())
  return other
}

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

test.each([0, 1, 2, 4, 7, 12])(
  'a reset that has begun and runs out of room after %i writes says so, and is finished when there is room, or by the next start',
  async (writes) => {
    await deposited()
    const { makeRoom } = await fillDisk({ writes, after: '"seeded": false' })
    const begun = await control('reset')
    expect(begun.status).toBe(503)
    expect(begun.body.detail).not.toContain('nothing was done')
    expect(readiness()).toMatchObject({ ready: false, reason: expect.stringMatching(/reset failed.*tried again/) })
    expect(outcome(await open.acme.get('pools'))).toBe('503 sandbox_starting')
    makeRoom()
    const other = await startedFromHere()
    expect((await other.acme.get('end_users/carol/transactions')).body.code).toBe('end_user_not_found')
    await eventually(() => expect(readiness()).toEqual({ ready: true }))
    expect(await transactions()).toMatchObject({ code: 'end_user_not_found' })
    await deposited()
    await new Ledger(open).expectSound()
  },
  30_000,
)

test.each([0, 1, 2, 3, 5, 8, 13])(
  'a namespace that finds room for %i writes only is not made, and nothing of it is left; there is room again, and it is',
  async (writes) => {
    const { makeRoom } = await fillDisk({ writes })
    const refused = await control('namespaces', { name: 'mine' })
    expect(refused.status).toBe(503)
    expect(refused.body.detail).toContain('the disk is full')
    expect(open.sandbox.namespaces.list().map(({ name }) => name)).toEqual(['default'])
    makeRoom()
    expect((await control('namespaces', { name: 'mine' })).status).toBe(201)
    expect(readdirSync(join(directory, 'namespaces'))).toHaveLength(1)
    const other = await startedFromHere()
    expect(other.sandbox.namespaces.list().map(({ name }) => name)).toEqual(['default', 'mine'])
  },
)

test.each([{ advance: '8d' }, { freeze: true }, { freeze: true, advance: '1h' }])(
  'a move of the clock that cannot be kept is refused and does not happen: %j',
  async (move) => {
    const portfolio = await deposited()
    const { makeRoom } = await fillDisk({ writes: 0 })
    const refused = await control('clock', move)
    expect(refused.status).toBe(503)
    expect(refused.body.detail).toMatch(/nothing was done: .*the disk is full/)
    expect(open.sandbox.namespace.services.service.clock.state).toMatchObject({ offset: 0, frozen_at: null })
    makeRoom()
    expect((await control('clock', move)).status).toBe(200)
    const { state } = open.sandbox.namespace.services.service.clock
    const other = await startedFromHere()
    expect(other.sandbox.namespace.services.service.clock.state).toEqual(state)
    expect((await open.acme.deposit('carol', portfolio, '1000')).status).toBe(200)
  },
)

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
