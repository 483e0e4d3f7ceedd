const { useSandbox } = require('yield-sandbox/jest')
const sandbox = useSandbox()

test('alice deposits', async () => {
  const [alice, headers] = [`${sandbox.baseUrl}/v1/partner/end_users/alice`, await sandbox.headers('alice')]
  const { data } = await (await fetch(`${alice}/portfolios`, { headers })).json()
  const body = JSON.stringify({ portfolio_id: data[0].portfolio_id, amount_minor: '1000000' })
  expect((await fetch(`${alice}/deposit`, { method: 'POST', headers, body })).status).toBe(200)
})
