import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { onDatabase } from '../helpers/on-database.ts'
import { Partner } from '../helpers/partner.ts'

const now = Date.now
/** Milliseconds by which the machine has set its own clock back. */
let back = 0
let dataDir: string
let sandbox: SandboxHandle

beforeEach(async () => {
  back = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now() - back)
  dataDir = await mkdtemp(join(tmpdir(), 'yield-sandbox-back-'))
  sandbox = await start()
})
afterEach(async () => {
  await sandbox.stop()
  vi.restoreAllMocks()
  await rm(dataDir, { recursive: true, force: true })
})

const start = () => startSandbox(onDatabase({ port: 0, confirmationDelay: 0, seed: 7, dataDir }))

/** The amounts of a list, newest first, once the money is found sound. */
async function shown(partner: Partner): Promise<string[]> {
  expect(await (await fetch(`${sandbox.controlUrl}/audit`)).json()).toMatchObject({ ok: true })
  const { data } = (await partner.get('end_users/zoe/transactions')).body
  const times = data.map(({ created_at }: { created_at: string }) => created_at)
  expect(times).toEqual(times.toSorted().reverse())
  return data.map(({ amount_changed }: { amount_changed: string }) => amount_changed)
}

test('a machine that sets its clock back, while the sandbox runs or before it starts again, changes no order and no money', async () => {
  const partner = new Partner(sandbox)
  const portfolio = await partner.open('zoe')
  await partner.deposit('zoe', portfolio, '1000')
  back += 5_000 // also behind the moment that the tokens in use are valid from
  for (const amount of ['2000', '3000']) await partner.deposit('zoe', portfolio, amount)
  expect(await shown(partner)).toEqual(['3000', '2000', '1000'])

  await sandbox.stop()
  back += 3_600_000
  sandbox = await start()
  const later = new Partner(sandbox)
  await later.deposit('zoe', portfolio, '4000')
  expect(await shown(later)).toEqual(['4000', '3000', '2000', '1000'])
})

test('business time goes on after a start, although nothing was written since the machine set its clock forward and back', async () => {
  const businessTime = async () => {
    const { now } = (await (await fetch(`${sandbox.controlUrl}/clock`)).json()) as { now: string }
    return Date.parse(now)
  }
  back -= 3_600_000
  const seen = await businessTime()
  back += 3_600_000
  await sandbox.stop()
  sandbox = await start()
  expect(await businessTime()).toBeGreaterThanOrEqual(seen)
})

test('the page is shown operations as they happen after the machine set its clock back', async () => {
  const leaving = new AbortController()
  const { body } = await fetch(`${sandbox.controlUrl}/events`, { signal: leaving.signal })
  let events = ''
  const reading = (async () => {
    for await (const chunk of body ?? []) events += Buffer.from(chunk)
  })().catch(() => undefined) // it leaves
  await fetch(`${sandbox.controlUrl}/operations`)
  const portfolio = await new Partner(sandbox).open('zoe')
  for (const key of [randomUUID(), randomUUID()]) {
    const deposit = await new Partner(sandbox).deposit('zoe', portfolio, '1000', { key })
    expect(deposit.status).toBe(200)
    await eventually(() => expect(events).toContain(key))
    back += 3_600_000
  }
  leaving.abort()
  await reading
})
