import { test as base, expect } from '@playwright/test'
import { sandboxFixtures } from 'yield-sandbox/playwright'

const test = base.extend(sandboxFixtures)

test('alice deposits', async ({ sandbox, request }) => {
  const [alice, headers] = [`${sandbox.baseUrl}/v1/partner/end_users/alice`, await sandbox.headers('alice')]
  const { data } = await (await request.get(`${alice}/portfolios`, { headers })).json()
  const body = { portfolio_id: data[0].portfolio_id, amount_minor: '1000000' }
  expect((await request.post(`${alice}/deposit`, { headers, data: body })).status()).toBe(200)
})
