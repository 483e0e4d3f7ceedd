import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useSandbox } from 'yield-sandbox/node-test'

test('alice deposits', async (t) => {
  const sandbox = await useSandbox(t)
  const [alice, headers] = [`${sandbox.baseUrl}/v1/partner/end_users/alice`, await sandbox.headers('alice')]
  const { data } = await (await fetch(`${alice}/portfolios`, { headers })).json()
  const body = JSON.stringify({ portfolio_id: data[0].portfolio_id, amount_minor: '1000000' })
  assert.equal((await fetch(`${alice}/deposit`, { method: 'POST', headers, body })).status, 200)
})
