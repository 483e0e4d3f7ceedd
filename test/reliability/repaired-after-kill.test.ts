import { afterEach, beforeEach, expect, it } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { outcome } from '../helpers/outcome.ts'
import { partnerAt } from '../helpers/partner.ts'
import { SandboxProcess } from './harness/sandbox-process.ts'

let sandbox: SandboxProcess
beforeEach(() => {
  sandbox = new SandboxProcess()
})
afterEach(() => sandbox.dispose())

it('a namespace is repaired when it is opened after a kill, if a fault had broken a pool', async () => {
  const before = await sandbox.start('0')
  const mine = await new ControlClient(before.base_url).createNamespace({ name: 'mine' })
  const partner = partnerAt(mine)
  const portfolio = await partner.open('zoe')
  expect(outcome(await partner.deposit('zoe', portfolio, '1000'))).toBe('200')
  const broken = { kind: 'pool_paused', phase: 'on_request', with: { pool: 'aave-usdc' } }
  const added = await fetch(`${mine.control_url}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(broken),
  })
  expect(added.status).toBe(201)
  await partner.get('pools')
  expect(outcome(await partner.deposit('zoe', portfolio, '1000'))).toBe('422 transaction_reverted')
  await sandbox.end('SIGKILL')
  const after = await sandbox.start('0')
  const url = (given: string) => given.replace(before.base_url, after.base_url)
  const again = partnerAt({
    ...mine,
    base_url: after.base_url,
    auth_url: url(mine.auth_url),
    control_url: url(mine.control_url),
  })
  expect(outcome(await again.deposit('zoe', portfolio, '1000'))).toBe('200')
})
