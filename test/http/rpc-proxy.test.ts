import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON-RPC answers of every shape
type Any = any

let sandbox: SandboxHandle
let rpcUrl: string
beforeAll(async () => {
  sandbox = await testSandbox({ host: '0.0.0.0' })
  rpcUrl = (await sandbox.credentials()).rpc_urls['31337']!
})
afterAll(() => sandbox.stop())

async function rpc(body: unknown): Promise<{ status: number; body: Any }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}
const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

test('on a host that is not loopback the printed RPC URL is on the origin, and a deposit is found there', async () => {
  expect(rpcUrl).toBe(`${sandbox.baseUrl}/rpc/31337`)
  const acme = new Partner(sandbox)
  const { body } = await acme.deposit('carol', await acme.open('carol'), '1000000')
  const receipt = await rpc(call('eth_getTransactionReceipt', body.tx_hash))
  expect(receipt.body.result).toMatchObject({ status: '0x1', transactionHash: body.tx_hash })
})

test('batches are passed on', async () => {
  const { body } = await rpc([call('eth_chainId'), call('eth_blockNumber')])
  expect(body).toHaveLength(2)
})

test.each(['anvil_setBalance', 'evm_mine', 'eth_sendTransaction', 'debug_traceTransaction', undefined])(
  'the method %s is refused, alone and inside a batch',
  async (method) => {
    for (const body of [call(method as string), [call('eth_chainId'), call(method as string)]]) {
      expect(await rpc(body)).toMatchObject({ status: 403, body: { code: 'control_forbidden', param: 'method' } })
    }
  },
)

test('an unknown chain is 404', async () => {
  const response = await fetch(`${sandbox.baseUrl}/rpc/1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call('eth_chainId')),
  })
  expect(response.status).toBe(404)
})
