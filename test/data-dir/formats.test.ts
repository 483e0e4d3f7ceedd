import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { FORMAT, RELEASES } from '../../src/data-dir/document-file.ts'
import { MARKET_OWNER } from '../../src/domain/chain-setup.ts'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { version } from '../../src/version.ts'
import { Partner } from '../helpers/partner.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** What a sandbox told its clients, in a namespace of its directory. */
interface Told {
  deposit: Record<string, unknown>
  cursor: string
  list: Record<string, unknown>[]
  tenants?: SandboxHandle['tenants']
}

/** A directory as the last version of that format left it, and what that one had told. */
function writtenBefore(format: number): { dataDir: string; told: { default: Told; mine: Told } } {
  const packed = readFileSync(new URL(`formats/format-${format}.json.br`, import.meta.url))
  const { files, told } = JSON.parse(brotliDecompressSync(packed).toString())
  const dataDir = join(temporaryDirectory(), 'data')
  for (const [file, text] of Object.entries<string>(files)) {
    mkdirSync(dirname(join(dataDir, file)), { recursive: true })
    writeFileSync(join(dataDir, file), text)
  }
  return { dataDir, told }
}

async function start(dataDir: string): Promise<SandboxHandle> {
  const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, dataDir, clock: '2030-01-01T00:00:00Z' })
  onTestFinished(() => sandbox.stop())
  return sandbox
}

/** Its markets obey, though they are owned as those of its version were. */
async function expectGoverned(sandbox: SandboxHandle, partner: Partner, portfolio: string) {
  const owner = { method: 'eth_getCode', params: [MARKET_OWNER, 'latest'] }
  expect(await sandbox.chain.request(owner as never)).toBe('0x')
  await sandbox.faults.add({ kind: 'pool_paused', match: { operation: 'deposit' } })
  const refused = await partner.deposit('alice', portfolio, '1000000')
  expect(refused.body).toMatchObject({ code: 'transaction_reverted' })
  await sandbox.faults.clear()
}

test('a directory of format 3 is gone on from: money, keys, cursors, clocks, namespaces; then it is of this format', async () => {
  const { dataDir, told } = writtenBefore(3)
  for (const round of ['as it was written', 'as this version wrote it']) {
    const sandbox = await start(dataDir)
    for (const [name, { deposit, cursor, list, tenants }] of Object.entries(told)) {
      const handle = tenants ? Object.assign(Object.create(sandbox), { tenants }) : sandbox
      const partner = new Partner(handle)
      const { portfolio_id } = deposit as { portfolio_id: string }
      const key = '22222222-2222-4222-8222-222222222222'
      // A key is kept for a day: in the namespace, thirty have passed since.
      if (name === 'default') {
        const replayed = await partner.deposit('alice', portfolio_id, '5000000', { key })
        expect([round, replayed.body]).toEqual([round, deposit])
        expect((await partner.get(`pools?limit=1&starting_after=${cursor}`)).status).toBe(200)
      } else {
        const page = await partner.get(`pools?limit=1&starting_after=${cursor}`)
        expect(page).toMatchObject({ status: 410, body: { code: 'cursor_expired' } })
      }
      const { data } = (await partner.get('end_users/alice/portfolios')).body
      const ids = (all: Record<string, unknown>[]) => all.map((one) => one.portfolio_id)
      expect(ids(data)).toEqual(ids(list))
      expect(data.at(-1)).toMatchObject({ deposited: round === 'as it was written' ? '5000000' : '7000000' })
      expect((await partner.deposit('alice', portfolio_id, '2000000')).status).toBe(200)
      if (name === 'default') await expectGoverned(sandbox, partner, portfolio_id)
      const path = name === 'default' ? 'audit' : `namespaces/${name}/audit`
      const audit = await fetch(new URL(`/_sandbox/${path}`, sandbox.baseUrl))
      expect(await audit.json()).toMatchObject({ ok: true })
    }
    await sandbox.stop()
  }
  expect(JSON.parse(readFileSync(join(dataDir, 'manifest.json'), 'utf8'))).toMatchObject({ format: 4 })
  for (const folder of [dataDir, join(dataDir, 'namespaces', 'mine')]) {
    for (const file of readdirSync(folder).filter((name) => /^(ledger|chain).*\.journal$/.test(name))) {
      expect(readFileSync(join(folder, file), 'utf8')).toMatch(/^yield-sandbox journal 2 /)
    }
  }
})

test('a chain that an earlier version began is one of this version after a reset', async () => {
  const sandbox = await start(writtenBefore(3).dataDir)
  await sandbox.reset()
  const owner = { method: 'eth_getCode', params: [MARKET_OWNER, 'latest'] }
  expect(await sandbox.chain.request(owner as never)).not.toBe('0x')
  const partner = new Partner(sandbox)
  await sandbox.faults.add({ kind: 'pool_paused', match: { operation: 'deposit' } })
  const portfolio = await partner.open('alice')
  expect((await partner.deposit('alice', portfolio, '1000000')).body).toMatchObject({ code: 'transaction_reverted' })
  await sandbox.faults.clear()
  expect((await partner.deposit('alice', portfolio, '1000000')).status).toBe(200)
})

test('this format came with a release of its own, which is this one or an older one', () => {
  const later = (one: string, other: string) => one.localeCompare(other, undefined, { numeric: true })
  const release = RELEASES[FORMAT] ?? expect.fail(`no release wrote format ${FORMAT}`)
  expect(later(release, RELEASES[FORMAT - 1] ?? '0')).toBe(1)
  expect(later(version, release)).toBeGreaterThanOrEqual(0)
})
