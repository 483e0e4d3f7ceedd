import { expect, test } from 'vitest'
import { Partner } from '../helpers/partner.ts'
import { send } from '../http/raw-http.ts'
import { bearer, gone, openForgetful, sandbox, TOKEN } from './forgetful.ts'

const GONE = /was deleted because nobody had used it for 4s/

openForgetful()

// What stays: expiry.long.test.ts.
test('a namespace that nobody uses is deleted with its files, and whoever comes later is told why', async () => {
  const mine = await sandbox.namespaces.create({ name: 'left-behind' })
  const partner = new Partner(mine)
  expect((await partner.get('pools')).status).toBe(200)
  const { control_token = '', rpc_urls, auth_url, scope, tenants } = await mine.credentials()
  await gone(mine)
  const path = '/_sandbox/namespaces/left-behind/clock'
  for (const token of [TOKEN, control_token]) {
    const answer = await send(sandbox.baseUrl, { path, headers: bearer(token) })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      404,
      expect.objectContaining({ code: 'namespace_not_found', detail: expect.stringMatching(GONE) }),
    ])
  }
  const pools = await partner.get('pools')
  expect(pools).toMatchObject({ status: 401, body: { code: 'unknown_partner', detail: expect.stringMatching(GONE) } })
  const { client_id, client_secret } = tenants[0]!
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
  const token = await fetch(auth_url, { method: 'POST', body: form })
  expect([token.status, await token.json()]).toEqual([
    401,
    { error: 'invalid_client', error_description: expect.stringMatching(GONE) },
  ])
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const rpc = await fetch(Object.values(rpc_urls)[0]!, call)
  expect([rpc.status, await rpc.text()]).toEqual([404, expect.stringMatching(GONE)])
  // Another one of that name is another one, which the old token does not open.
  await using again = await sandbox.namespaces.create({ name: 'left-behind' })
  expect((await send(sandbox.baseUrl, { path, headers: bearer(control_token) })).status).toBe(401)
  expect((await again.clock.state()).frozen).toBe(false)
})
