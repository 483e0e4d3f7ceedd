import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { DatabaseRegistry } from '../../src/database/database-registry.ts'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { eventually } from '../helpers/eventually.ts'
import { brokeOff } from '../helpers/exchange.ts'
import { Partner } from '../helpers/partner.ts'
import { LeasedFolders } from './leased-folders.ts'

const DATABASE = 'postgres://sandbox@localhost/sandbox'

let registry: LeasedFolders
let sandbox: SandboxHandle
let directory: string

/** Every start finds these in the database. */
const opens = (folders: LeasedFolders) =>
  vi.spyOn(DatabaseRegistry, 'open').mockResolvedValue(folders as unknown as DatabaseRegistry)
const start = (path: string) => {
  registry = new LeasedFolders(path)
  opens(registry)
  return startSandbox({ port: 0, confirmationDelay: 0, seed: 7, database: DATABASE })
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-lost-'))
  sandbox = await start(directory)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await sandbox.stop()
  await rm(directory, { recursive: true, force: true })
})

const AWAY = { code: 'service_unavailable', detail: expect.stringContaining('database does not answer') }

test('while the database is away, new writes are refused at the door and reads go on', async () => {
  const partner = new Partner(await sandbox.namespaces.create({ name: 'away' }))
  const portfolio = await partner.open('zoe')
  registry.lease('away').awaySince = Date.now()
  const refused = await partner.deposit('zoe', portfolio, '1000', { key: 'b6f7a3de-0d0e-4b3a-9f0c-0a2b6c1d7e55' })
  expect(refused).toMatchObject({ status: 503, body: AWAY })
  expect(refused.headers.get('retry-after')).toBe('2')
  expect((await partner.post('end_users', { external_id: 'yan' })).status).toBe(503)
  expect((await partner.get('end_users/zoe/portfolios')).body.data).toMatchObject([{ deposited: '0' }])

  registry.lease('away').awaySince = undefined
  const again = await partner.deposit('zoe', portfolio, '1000', { key: 'b6f7a3de-0d0e-4b3a-9f0c-0a2b6c1d7e55' })
  expect(again.status).toBe(200)
  expect(again.headers.get('idempotency-key-replay')).toBe('false')
})

test('what was read is answered only while the lease holds; what was stored is answered', async () => {
  const partner = new Partner(await sandbox.namespaces.create({ name: 'expired' }))
  const portfolio = await partner.open('zoe')
  registry.lease('expired').holds = false
  const read = await partner.get('end_users/zoe/portfolios')
  expect(read).toMatchObject({ status: 503, body: { code: 'service_unavailable' } })
  expect(read.headers.get('retry-after')).toBe('1')
  expect((await partner.deposit('zoe', portfolio, '1000')).status).toBe(200)
  // A refusal for want of money was read.
  expect((await partner.withdraw('zoe', portfolio, '999999')).status).toBe(503)
  registry.lease('expired').holds = true
  expect((await partner.get('end_users/zoe/portfolios')).body.data).toMatchObject([{ deposited: '1000' }])
})

test('what the sandbox itself reads is guarded as well; that it lives is not', async () => {
  registry.lease('default').holds = false
  const status = async (path: string, init?: RequestInit) => (await fetch(new URL(path, sandbox.baseUrl), init)).status
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  const json = { 'content-type': 'application/json' }
  expect(await status('/_sandbox/money')).toBe(503)
  expect(await status('/rpc/31337', { method: 'POST', body: call, headers: json })).toBe(503)
  expect(await status('/_sandbox/health')).toBe(200)
  registry.lease('default').holds = true
  expect(await status('/rpc/31337', { method: 'POST', body: call, headers: json })).toBe(200)
})

test('a namespace that another process took resets its connections and writes nothing; its next use opens it again', async () => {
  const mine = await sandbox.namespaces.create({ name: 'taken', confirmationDelay: '1h' })
  const partner = new Partner(mine)
  const portfolio = await partner.open('zoe')
  const key = '0d7c0f5c-6d5f-4d5b-8f0e-5b1f6f1b2c11'
  const held = partner.deposit('zoe', portfolio, '1000', { key }).catch((error: unknown) => error)
  const signed = () => mine.requests.list({ operation: 'deposit' }).then(({ data }) => data[0]?.transfer?.tx_hash)
  await eventually(async () => expect(await signed()).toMatch(/^0x/))
  const lease = registry.lease('taken')
  lease.lose()
  const broken = await held
  expect(brokeOff(broken), String(broken)).toBe(true)

  const retried = new Partner(mine).deposit('zoe', portfolio, '1000', { key })
  await eventually(async () => expect((await mine.requests.list({ operation: 'deposit' })).data).toHaveLength(1))
  await mine.clock.advance('2h')
  expect((await retried).status).toBe(200)
  const { body } = await new Partner(mine).get('end_users/zoe/portfolios')
  expect(body.data).toMatchObject([{ portfolio_id: portfolio, deposited: '1000' }])
  expect(registry.opened.get('taken')).toBe(2)
  expect(lease.lateWrites.filter((what) => !what.startsWith('chain-'))).toEqual([])
})

test('a sandbox whose default namespace was taken ends, without a word to its state', async () => {
  const path = join(temporaryDirectory(), 'data')
  const folders = new LeasedFolders(path)
  opens(folders)
  const other = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7, database: DATABASE })
  await other.ready
  folders.lease('default').lose()
  await other.stop()
  expect(other.lost).toBe(true)
  expect(folders.closed).toBe(true)
  expect(folders.lease('default').lateWrites.filter((what) => !what.startsWith('chain-'))).toEqual([])
  const after = await folders.open(undefined, { version: '0', seed: 7, fixture: '', log: console as never })
  expect(after.manifest.data.clean).toBe(false)
  await after.close()
})

// The last one: it stops the sandbox of all the others.
test('a sandbox whose state is taken while it stops ends as any other', async () => {
  const stopped = sandbox.stop()
  await new Promise(setImmediate) // it has begun to end its chain
  registry.lease('default').lose()
  await stopped
  expect(registry.lease('default').lateWrites).not.toEqual([])
  expect(registry.closed).toBe(true)
})
