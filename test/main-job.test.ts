import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../src/index.ts'
import { Partner, testNamespace } from './helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

test('the main job: pool, end user, portfolio, deposit, yield, withdrawal, transactions', async () => {
  const portfolio = await acme.open('carol')
  const deposited = await acme.deposit('carol', portfolio, '1000000000')
  expect(deposited).toMatchObject({
    status: 200,
    body: { deposited: '1000000000', tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
  })

  await sandbox.clock.advance(30 * 24 * 60 * 60 * 1000)
  const [listed] = (await acme.get('end_users/carol/portfolios')).body.data
  expect(Number(listed.yield_earned)).toBeGreaterThan(3_000_000)

  const withdrawn = await acme.withdraw('carol', portfolio, listed.total_balance)
  expect(withdrawn).toMatchObject({ status: 200, body: { deposited: '0', total_balance: '0' } })
  const { data } = (await acme.get('end_users/carol/transactions')).body
  expect(data.map((item: { type: string }) => item.type)).toEqual(['withdrawal', 'deposit'])
})
