import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { FaultRule } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { partnerAt } from '../helpers/partner.ts'
import { Command } from './command.ts'

let command: Command
beforeAll(() => {
  command = new Command(['--port', '0', '--quiet', '--json', '--confirmation-delay', '0', '--seed', '7'])
})
afterAll(async () => {
  command.kill('SIGKILL')
  await command.ended
})

const match = { operation: 'deposit' } as const
const FAULTS: [FaultRule, string][] = [
  [{ kind: 'error', match }, '500 internal_error'],
  [{ kind: 'error', phase: 'before_broadcast', match, with: { status: 503 } }, '503 service_unavailable'],
  [{ kind: 'error', phase: 'after_broadcast', match }, '500 internal_error'],
  [{ kind: 'error', phase: 'during_response', match }, '500 internal_error'],
  [{ kind: 'drop_connection', phase: 'on_request', match }, 'dropped'],
  [{ kind: 'drop_connection', phase: 'before_broadcast', match, with: { how: 'truncate' } }, 'dropped'],
  [{ kind: 'drop_connection', phase: 'after_confirmation', match }, 'dropped'],
  [{ kind: 'malformed_body', match }, 'dropped'],
  [{ kind: 'revert', match }, '422 transaction_reverted'],
  [{ kind: 'reorg', match }, '200'],
  [{ kind: 'chain_down', match }, '503 chain_unavailable'],
  [{ kind: 'token_endpoint_error', with: { error: 'server_error' } }, '200'],
]

test('with --quiet, nothing that faults were asked for is printed', async () => {
  const credentials = await command.credentials()
  const control = new ControlClient(credentials.base_url)
  const acme = partnerAt(credentials)
  const [{ client_id, client_secret } = { client_id: '', client_secret: '' }] = credentials.tenants
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: credentials.scope }
  const token = () => fetch(credentials.auth_url, { method: 'POST', body: new URLSearchParams(form) })
  for (const [rule, end] of FAULTS) {
    const portfolio = await acme.open('carol')
    await control.addFaults([rule])
    const deposit = acme.deposit('carol', portfolio, '1000').then(outcome, () => 'dropped')
    expect([rule, await deposit]).toEqual([rule, end])
    expect((await token()).status).toBe(rule.kind === 'token_endpoint_error' ? 500 : 200)
    await control.clearFaults()
  }
  // Whoever is held is told to come back, and that is no failure either.
  const portfolio = await acme.open('carol')
  await control.addFaults([{ kind: 'stuck', match }])
  const held = acme.deposit('carol', portfolio, '1000').then(outcome)
  await expect.poll(async () => (await control.faults())[0]?.hits).toBe(1)
  await control.reset()
  expect(await held).toBe('503 sandbox_starting')
  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null, stderr: '', stdout: `${JSON.stringify(credentials)}\n` })
})
