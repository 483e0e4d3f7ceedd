import { createPublicClient, http, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

async function rpc(body: unknown, url = rpcUrl): Promise<{ status: number; body: Any }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}
const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

test('on a host that is not loopback the printed RPC URL is on the origin, and a deposit is found there', async () => {
  expect(rpcUrl.split('?')[0]).toBe(`${sandbox.baseUrl}/rpc/31337`)
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

describe('sending signed transactions', () => {
  const sender = privateKeyToAccount(`0x${'42'.repeat(32)}`)
  const terms = { chainId: 31337, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, gas: 21_000n, to: sender.address }
  const signed = async () => {
    const { body } = await rpc(call('eth_getTransactionCount', sender.address, 'latest'))
    return sender.signTransaction({ ...terms, nonce: Number(body.result) })
  }

  test('goes with the URL of the credentials, which a client of viem takes as it is', async () => {
    const client = createPublicClient({ transport: http(rpcUrl), pollingInterval: 100 })
    const hash = await client.sendRawTransaction({ serializedTransaction: await signed() })
    expect(await client.waitForTransactionReceipt({ hash, checkReplacement: false })).toMatchObject({
      status: 'success',
    })
  })

  test('needs its key, and reading does not', async () => {
    const bare = rpcUrl.split('?')[0]!
    await using other = await sandbox.namespaces.create({ name: 'other' })
    const foreign = Object.values((await other.credentials()).rpc_urls)[0]!.split('?')[1]!
    const raw = await signed()
    for (const url of [bare, `${bare}?key=`, `${bare}?key=guess`, `${bare}?${foreign}`, `${rpcUrl}&key=twice`]) {
      expect(await rpc(call('eth_chainId'), url)).toMatchObject({ status: 200, body: { result: '0x7a69' } })
      for (const method of ['eth_sendRawTransaction', 'eth_sendRawTransactionSync']) {
        for (const body of [call(method, raw), [call('eth_chainId'), call(method, raw)]]) {
          expect(await rpc(body, url)).toMatchObject({ status: 403, body: { code: 'control_forbidden', param: 'key' } })
        }
      }
    }
    const { body } = await rpc(call('eth_getTransactionByHash', keccak256(raw)))
    expect(body.result).toBeNull()
  })

  test('a key is good for one life of a namespace', async () => {
    const keyOfNext = async () => {
      await using next = await sandbox.namespaces.create({ name: 'again' })
      return Object.values((await next.credentials()).rpc_urls)[0]
    }
    expect(await keyOfNext()).not.toBe(await keyOfNext())
  })
})

test('an unknown chain is 404', async () => {
  const response = await fetch(`${sandbox.baseUrl}/rpc/1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call('eth_chainId')),
  })
  expect(response.status).toBe(404)
})
