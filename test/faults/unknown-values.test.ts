import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  portfolio = await acme.open('dan')
})
afterAll(() => sandbox.stop())
afterEach(() => sandbox.faults.clear())

const hits = async () => (await sandbox.faults.list()).map((one) => one.hits)

test('transaction_type: the newest transaction has an unknown type, and nothing else changes', async () => {
  await sandbox.faults.add({ kind: 'unknown_values' })
  expect((await acme.get('end_users/dan/transactions')).body.data).toEqual([])
  expect(await hits(), 'a page without transactions does not count').toEqual([0])
  for (const amount of ['1000', '2000']) await acme.deposit('dan', portfolio, amount)
  const { body } = await acme.get('end_users/dan/transactions')
  const { body: before } = await acme.get('end_users/dan/transactions')
  expect(body.data[0]).toEqual({ ...before.data[0], type: 'fee_deduction' })
  expect(body.data.slice(1)).toEqual(before.data.slice(1))
  expect(await hits()).toEqual([1])
})

test('protocol: of the first pool or portfolio, and of a portfolio that is answered alone', async () => {
  await sandbox.faults.add({ kind: 'unknown_values', times: 'always', with: { what: 'protocol' } })
  const protocols = async (path: string) =>
    (await acme.get(path)).body.data.map((one: { protocol: string }) => one.protocol)
  expect(await protocols('pools')).toEqual(['another_protocol', 'aave', 'morpho', 'morpho'])
  expect((await protocols('end_users/dan/portfolios'))[0]).toBe('another_protocol')
  expect((await acme.deposit('dan', portfolio, '1000')).body.protocol).toBe('another_protocol')
  await acme.get('end_users/dan/transactions')
  expect(await hits()).toEqual([3])
})

test('error_code: an error is a subclass of what it would be; good answers do not count', async () => {
  await sandbox.faults.add({ kind: 'unknown_values', with: { what: 'error_code' } })
  expect(outcome(await acme.get('pools'))).toBe('200')
  const answer = await acme.deposit('dan', portfolio, '9'.repeat(30))
  expect(outcome(answer)).toBe('422 insufficient_balance_unspecified')
  expect(answer.body).toMatchObject({
    type: 'urn:yield-partner-api:error:insufficient_balance_unspecified',
    status: 422,
    param: 'amount_minor',
  })
  expect(await hits()).toEqual([1])
})

test('a request can bring it, and a kind that cannot be is refused', async () => {
  const headers = { 'x-sandbox-fault': 'unknown_values; what=protocol' }
  expect((await acme.get('pools', { headers })).body.data[0].protocol).toBe('another_protocol')
  const never = { kind: 'unknown_values', match: { operation: 'list_pools' } } as const
  await expect(sandbox.faults.add(never)).rejects.toThrow('list_pools')
})
