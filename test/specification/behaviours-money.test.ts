import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { mined } from '../helpers/confirmation.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace({ confirmationDelay: '10s' })
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

test('Behaviour transfer-times: created_at is the end of the delay, the timestamp of the block its start', async () => {
  const portfolio = await acme.open('tim')
  const { request } = await mined(sandbox, () => acme.deposit('tim', portfolio, '1000'))
  await sandbox.clock.advance(10_000)
  const hash = (await request).body.tx_hash
  const [record] = (await acme.get('end_users/tim/transactions')).body.data
  const { blockNumber } = await sandbox.chain.getTransactionReceipt({ hash })
  const { timestamp } = await sandbox.chain.getBlock({ blockNumber })
  expect(Date.parse(record.created_at) - Number(timestamp) * 1000).toBeGreaterThanOrEqual(10_000)
  expect(Date.parse(record.created_at) - Number(timestamp) * 1000).toBeLessThan(12_000)
})

test('Behaviour updated-at: changes with transfers alone', async () => {
  const portfolio = await acme.open('uma')
  const shown = async () => {
    const { data } = (await acme.get('end_users/uma/portfolios')).body
    const { updated_at, total_balance } = data[0]
    return { updated_at, total_balance: BigInt(total_balance) }
  }
  const made = await shown()
  const { request } = await mined(sandbox, () => acme.deposit('uma', portfolio, '1000000000'))
  await sandbox.clock.advance(10_000)
  expect((await request).status).toBe(200)
  const paid = await shown()
  expect(Date.parse(paid.updated_at)).toBeGreaterThan(Date.parse(made.updated_at))
  await sandbox.clock.advance(30 * 24 * 3600 * 1000)
  const later = await shown()
  expect(later.total_balance).toBeGreaterThan(paid.total_balance)
  expect(later.updated_at).toBe(paid.updated_at)
})
