import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { eventually } from '../helpers/eventually.ts'
import { fillDisk } from '../helpers/full-disk.ts'
import { outcome } from '../helpers/outcome.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

let directory: string
export let open: OpenSandbox

/** Opens a sandbox with a data directory for the tests of a file. It is reset after each test, when the disk has room again. */
export function openOnce(): void {
  const place = mkdtempSync(join(tmpdir(), 'yield-sandbox-full-'))
  beforeAll(async () => {
    directory = join(place, 'data')
    open = await openSandbox({ dataDir: directory })
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const { name } of await open.control.namespaces()) {
      if (name !== 'default') await open.control.deleteNamespace(name)
    }
    await open.control.reset()
  })
  afterAll(async () => {
    await open.stop()
    rmSync(place, { recursive: true })
  })
}

export async function control(path: string, body?: unknown) {
  const response = await fetch(new URL(`/_sandbox/${path}`, open.sandbox.baseUrl), {
    method: 'POST',
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
export const readiness = () => open.sandbox.namespace.readiness()
export const transactions = async () => (await open.acme.get('end_users/carol/transactions')).body

/** An end user with a deposit, who is not in the fixtures. */
export async function deposited(): Promise<string> {
  const portfolio = await open.acme.open('carol')
  expect((await open.acme.deposit('carol', portfolio, '1000')).status).toBe(200)
  return portfolio
}

/** What a start finds after a kill at this moment; the clients of the sandbox that is open stay as they are. */
export async function startedFromHere(): Promise<OpenSandbox> {
  const copy = join(temporaryDirectory(), 'data')
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  const other = await openSandbox({ dataDir: copy })
  onTestFinished(() => other.stop())
  return other
}

/** A reset that has begun and finds room for as many writes only. */
export function interruptedResets(writes: readonly number[]): void {
  test.each(writes)(
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
  )
}

/** A namespace that finds room for as many writes only. */
export function refusedNamespaces(writes: readonly number[]): void {
  test.each(writes)(
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
}

/** Moves of the clock that cannot be kept. */
export function refusedMoves(moves: readonly { advance?: string; freeze?: boolean }[]): void {
  test.each(moves)('a move of the clock that cannot be kept is refused and does not happen: %j', async (move) => {
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
  })
}
