import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  http,
  keccak256,
  numberToHex,
  parseEther,
  publicActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { expectRefusal, send } from './raw-http.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON-RPC answers of every shape
type Any = any

const outsider = privateKeyToAccount(`0x${'42'.repeat(32)}`)
const RECEIVER = '0x00000000000000000000000000000000000c0001'

let sandbox: SandboxHandle
let url: string
beforeAll(async () => {
  sandbox = await testSandbox()
  url = (await sandbox.credentials()).rpc_urls['31337']!
  await sandbox.chain.setBalance({ address: outsider.address, value: parseEther('1') })
})
afterAll(() => sandbox.stop())

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

async function post(body: unknown, headers: Record<string, string> = {}): Promise<{ status: number; body: Any }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
const ask = async (method: string, ...params: unknown[]): Promise<Any> => (await post(call(method, ...params))).body

/** Signed by a key the sandbox knows nothing of. */
async function signed(nonce: number, value = 1n) {
  const terms = { type: 'eip1559', chainId: 31337, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, gas: 21_000n } as const
  return outsider.signTransaction({ ...terms, nonce, to: RECEIVER, value })
}

describe('the RPC URL', () => {
  test('keeps mining and resets to the sandbox', async () => {
    const methods = ['evm_setAutomine', 'evm_setIntervalMining', 'anvil_setAutomine', 'hardhat_reset', 'anvil_reset']
    for (const method of methods) {
      expect((await ask(method, true)).error).toMatchObject({
        code: -32601,
        message: expect.stringContaining('sandbox'),
      })
    }
    expect((await ask('anvil_reset')).error.message).toContain('POST /_sandbox/reset')
  })

  test('is on the origin of the sandbox, and finds deposits', async () => {
    expect(url).toBe(`${sandbox.baseUrl}/rpc/31337`)
    const acme = new Partner(sandbox)
    const { body } = await acme.deposit('carol', await acme.open('carol'), '1000000')
    const client = createPublicClient({ transport: http(url) })
    expect(await client.getTransactionReceipt({ hash: body.tx_hash })).toMatchObject({ status: 'success' })
  })

  test("serves viem's test client", async () => {
    const client = createTestClient({ mode: 'anvil', chain: foundry, transport: http(url) }).extend(publicActions)
    await client.setBalance({ address: RECEIVER, value: 77n })
    expect(await client.getBalance({ address: RECEIVER })).toBe(77n)
    const id = await client.snapshot()
    await client.setBalance({ address: RECEIVER, value: 78n })
    await client.revert({ id })
    expect(await client.getBalance({ address: RECEIVER })).toBe(77n)
    const before = await client.getBlockNumber({ cacheTime: 0 })
    await client.mine({ blocks: 3 })
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(before + 3n)
  })

  test("mines an outsider's transaction, and shows it", async () => {
    const client = createPublicClient({ transport: http(url), pollingInterval: 50 })
    const wallet = createWalletClient({ account: outsider, chain: foundry, transport: http(url) })
    const before = await client.getBalance({ address: RECEIVER })
    const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const hash = await wallet.sendTransaction({ to: RECEIVER, value: 5n, ...fees })
    expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    expect(await client.getBalance({ address: RECEIVER })).toBe(before + 5n)
  })

  test('answers a synchronous transaction with its receipt', async () => {
    const nonce = Number((await ask('eth_getTransactionCount', outsider.address, 'latest')).result)
    const sent = await ask('eth_sendRawTransactionSync', await signed(nonce))
    expect(sent.result).toMatchObject({ status: '0x1', from: outsider.address.toLowerCase() })
    const [from] = (await ask('eth_accounts')).result
    const transaction = { from, to: RECEIVER, value: '0x1', gasPrice: '0x0' }
    expect((await ask('eth_sendTransactionSync', transaction)).result).toMatchObject({ status: '0x1', from })
    const waiting = await ask('eth_sendRawTransactionSync', await signed(nonce + 5))
    expect(waiting.error).toMatchObject({ code: -32000, message: expect.stringContaining('cannot be mined yet') })
  })

  test('refuses transactions as Anvil does', async () => {
    const used = await ask('eth_sendRawTransaction', await signed(0))
    expect(used.error).toMatchObject({ code: -32003, message: 'nonce too low' })
    expect((await ask('eth_sendRawTransaction', '0x1234')).error).toEqual({
      code: -32602,
      message: 'Failed to decode transaction',
    })
    for (const raw of ['0x123', 5, undefined]) {
      for (const method of ['eth_sendRawTransaction', 'eth_sendRawTransactionSync']) {
        expect((await ask(method, raw)).error).toMatchObject({ code: -32602 })
      }
    }
  })

  test('takes no transaction with blobs, whoever signs it: Anvil would mine nothing for seconds', async () => {
    const blobVersionedHashes = [`0x01${'ab'.repeat(31)}`] as const
    const terms = { chainId: 31337, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, maxFeePerBlobGas: 10n, gas: 21_000n }
    const nonce = Number((await ask('eth_getTransactionCount', outsider.address, 'latest')).result)
    const raw = await outsider.signTransaction({ ...terms, type: 'eip4844', nonce, to: RECEIVER, blobVersionedHashes })
    const [from] = (await ask('eth_accounts')).result
    const unsigned = { from, to: RECEIVER, gas: '0x5208' }
    for (const sent of [
      await ask('eth_sendRawTransaction', raw),
      await ask('eth_sendRawTransactionSync', raw),
      await ask('eth_sendTransaction', { ...unsigned, type: '0x3' }),
      await ask('eth_sendTransaction', { ...unsigned, blobVersionedHashes }),
    ]) {
      expect(sent.error).toMatchObject({ code: -32602, message: expect.stringContaining('blobs') })
    }
    expect((await ask('eth_getTransactionByHash', keccak256(raw))).result).toBeNull()
  })

  test("mines at the sandbox clock's time, or when it is told to", async () => {
    const time = async () => Number((await ask('eth_getBlockByNumber', 'latest', false)).result.timestamp)
    await sandbox.clock.advance(86_400_000)
    await sandbox.clock.freeze()
    const now = Math.floor((await sandbox.clock.now()) / 1000)
    for (const [method, ...params] of [['evm_mine'], ['anvil_mine'], ['hardhat_mine', '0x2', '0x0']] as const) {
      const before = Number((await ask('eth_blockNumber')).result)
      expect((await ask(method, ...params)).error).toBeUndefined()
      expect(await time()).toBe(now)
      expect(Number((await ask('eth_blockNumber')).result)).toBeGreaterThan(before)
    }
    await ask('evm_mine', now + 500)
    expect(await time()).toBe(now + 500)
    await ask('evm_setNextBlockTimestamp', now + 900)
    await ask('evm_mine')
    expect(await time()).toBe(now + 900)
    await ask('evm_mine')
    expect(await time()).toBe(now + 900)
    expect((await ask('anvil_mine', '0x3e9')).error).toMatchObject({ code: -32602 })
    expect((await ask('anvil_mine', 'x')).error).toMatchObject({ code: -32602 })
    await sandbox.clock.unfreeze()
  })
})

describe('batches', () => {
  test('are answered in order, each under its id, and carried out in order', async () => {
    const [from] = (await ask('eth_accounts')).result
    const nonce = Number((await ask('eth_getTransactionCount', outsider.address, 'latest')).result)
    const raws = await Promise.all([signed(nonce), signed(nonce + 1)])
    const batch = [
      call('eth_getBalance', RECEIVER, 'latest'),
      call('anvil_setBalance', RECEIVER, '0x10'),
      call('eth_getBalance', RECEIVER, 'latest'),
      call('eth_sendRawTransaction', raws[0]),
      call('eth_sendRawTransaction', '0x12'),
      call('eth_sendRawTransaction', raws[1]),
      { jsonrpc: '2.0', method: 'evm_mine', params: [] },
      5,
      call('eth_getBalance', RECEIVER, 'latest'),
      call('eth_noSuchMethod', from),
      { ...call('eth_chainId'), jsonrpc: '1.0' },
      call('eth_chainId'),
    ].map((request, index) =>
      typeof request === 'object' && 'id' in request ? { ...request, id: `n${index}` } : request,
    )
    const { body } = await post(batch)
    expect(body.map(({ id }: Any) => id)).toEqual(
      [0, 1, 2, 3, 4, 5, null, 8, 9, 10, 11].map((n) => (n === null ? n : `n${n}`)),
    )
    expect(body[2].result).toBe('0x10')
    expect(body[4].error.code).toBe(-32602)
    expect(body[6].error.code).toBe(-32600)
    expect(body[7].result).toBe('0x12')
    expect(body[8].error).toEqual({ code: -32601, message: 'Method not found' })
    expect(body[9].error.code).toBe(-32600)
    expect(body[10].result).toBe('0x7a69')
  })

  test('of a thousand reads pass, but not everything', async () => {
    const reads = Array.from({ length: 1000 }, (_, id) => ({
      ...call('eth_getCode', RECEIVER, 'latest'),
      id,
      pad: 'x'.repeat(300),
    }))
    const { body } = await post(reads)
    expect(body.map(({ id }: Any) => id)).toEqual(reads.map(({ id }) => id))
    expect((await post(call('anvil_setCode', RECEIVER, `0x${'00'.repeat(6_000_000)}`))).status).toBe(413)
  })
})

describe('what is no proper call', () => {
  test.each([
    ['{nope', -32700],
    ['', -32700],
    ['[]', -32600],
    ['5', -32600],
    ['null', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32600],
  ])('%j is answered with %i', async (body, code) => {
    expect(await post(body)).toMatchObject({ status: 200, body: { jsonrpc: '2.0', error: { code } } })
  })

  test('a notification is carried out and not answered', async () => {
    expect(await post({ jsonrpc: '2.0', method: 'eth_chainId' })).toEqual({ status: 204, body: undefined })
    const set = { jsonrpc: '2.0', method: 'anvil_setBalance', params: [RECEIVER, '0x99'] }
    expect(await post([set])).toEqual({ status: 204, body: undefined })
    expect((await ask('eth_getBalance', RECEIVER, 'latest')).result).toBe('0x99')
  })

  test('an id that is null is kept, parameters that are missing are none', async () => {
    expect((await post({ jsonrpc: '2.0', id: null, method: 'eth_chainId' })).body).toEqual({
      jsonrpc: '2.0',
      id: null,
      result: '0x7a69',
    })
    expect((await post({ jsonrpc: '2.0', id: 'a', method: 'evm_mine' })).body).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: '0x0',
    })
  })

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('%s is a problem that names POST', async (method) => {
    const response = await fetch(url, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' })
  })
})

describe('web pages', () => {
  test.each([
    [{ origin: 'https://evil.example' }, 'Origin'],
    [{ origin: 'null' }, 'Origin'],
  ])('are refused: %j', async (headers, param) => {
    const answer = await post(call('eth_chainId'), headers)
    expect(answer).toMatchObject({ status: 403, body: { code: 'control_forbidden', param } })
  })

  test('are refused under a foreign Host, as after DNS rebinding', async () => {
    const headers = { host: 'evil.example', 'content-type': 'application/json' }
    const body = JSON.stringify(call('eth_chainId'))
    const answer = await send(sandbox.baseUrl, { method: 'POST', path: '/rpc/31337', headers, body })
    expectRefusal(answer, { status: 403, code: 'control_forbidden', param: 'Host' })
  })

  test('get no CORS headers', async () => {
    const response = await fetch(url, { method: 'OPTIONS', headers: { origin: url.slice(0, -10) } })
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

test('faults do not strike it', async () => {
  await sandbox.faults.add({ kind: 'error', times: 'always', with: { code: 'rate_limited' } })
  expect((await ask('eth_chainId')).result).toBe(numberToHex(31337))
  await sandbox.faults.clear()
})

test('before the chain is ready, and while it cannot be reached, that is a problem to repeat', async () => {
  const other = await Sandbox.listen({ port: 0, seed: 7 })
  try {
    const problem = async () => {
      const body = JSON.stringify(call('eth_chainId'))
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${other.baseUrl}/rpc/31337`, { method: 'POST', headers, body })
      return {
        status: response.status,
        again: response.headers.get('retry-after'),
        body: (await response.json()) as Any,
      }
    }
    expect(await problem()).toMatchObject({ status: 503, again: '1', body: { code: 'sandbox_starting' } })
    await other.ready
    expect(await problem()).toMatchObject({ status: 200 })
    const [chain] = other.namespace.services.chains.all()
    chain!.pause()
    expect(await problem()).toMatchObject({ status: 503, again: '2', body: { code: 'chain_unavailable' } })
    chain!.resume()
    expect(await problem()).toMatchObject({ status: 200 })
  } finally {
    await other.stop()
  }
})
