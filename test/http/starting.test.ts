import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandbox } from '../../src/sandbox/sandbox.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.listen({ port: 0, seed: 7 })
})
afterAll(() => sandbox.stop())

test('before it is ready, it says so everywhere, and that waiting helps', async () => {
  const get = (path: string) => fetch(`${sandbox.baseUrl}${path}`)
  expect((await get('/_sandbox/health')).status).toBe(200)
  expect((await get('/_sandbox/ready')).status).toBe(503)

  const pools = await get('/v1/partner/pools')
  expect([pools.status, pools.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await pools.json()).toMatchObject({ code: 'sandbox_starting' })

  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'a', client_secret: 'b', scope: 'c' })
  const token = await fetch(`${sandbox.baseUrl}/oauth2/token`, { method: 'POST', body })
  expect([token.status, token.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await token.json()).toMatchObject({ error: 'temporarily_unavailable' })

  await sandbox.ready
  expect((await get('/_sandbox/ready')).status).toBe(200)
  expect((await get('/v1/partner/pools')).status).toBe(401)
})
