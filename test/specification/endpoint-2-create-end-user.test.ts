import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())

test('Endpoint 2: exists, and the end user it makes can be worked with', async () => {
  const acme = new Partner(sandbox)
  expect(outcome(await acme.get('end_users/dora/portfolios'))).toBe('404 end_user_not_found')
  expect((await acme.post('end_users', { external_id: 'dora' })).status).toBe(201)
  expect(outcome(await acme.get('end_users/dora/portfolios'))).toBe('200')
  const deposit = await acme.deposit('dora', await acme.open('dora'), '1000')
  expect(deposit).toMatchObject({ status: 200, body: { deposited: '1000' } })
})

test('Endpoint 2: external_id identifies the end user within the tenant only', async () => {
  const globex = new Partner(sandbox, 'globex')
  expect(outcome(await globex.get('end_users/dora/portfolios'))).toBe('404 end_user_not_found')
  expect((await globex.post('end_users', { external_id: 'dora' })).status).toBe(201)
  expect((await globex.get('end_users/dora/portfolios')).body.data).toEqual([])
})
