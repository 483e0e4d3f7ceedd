import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { mined } from '../helpers/confirmation.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testSandbox({ confirmationDelay: '10s' })
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
