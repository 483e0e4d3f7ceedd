import { numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { forked } from './forked-fixture.ts'
import { startUpstream } from './upstream-chain.ts'

/** Reads at once. */
const MANY = 16

/** Asks for an account that the node has never seen, as of a block. */
type Read = (account: string, block: unknown) => Promise<unknown>

/** A chain's RPC. Gives a result, or the whole answer if it is an error. */
async function rpcOf(sandbox: SandboxHandle, chainId: string) {
  const url = (await sandbox.credentials()).rpc_urls[chainId]!
  return async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = (await response.json()) as { result?: unknown }
    return answer.result ?? answer
  }
}

let accounts = 2n ** 100n
const many = (read: Read, block: unknown) =>
  Promise.all(Array.from({ length: MANY }, () => read(numberToHex(++accounts, { size: 20 }), block)))

// The node locks its old states for each that is read. Whoever waited for that lock kept it from receiving what was fetched.
describe('the state of an old block, of accounts that are new to the node,', () => {
  test.each([
    ['by balance', '0x0', (ask) => (account, block) => ask('eth_getBalance', account, block)],
    [
      'by call',
      numberToHex(0, { size: 32 }),
      (ask) => (account, block) =>
        ask('eth_call', { data: `0x73${account.slice(2)}315f5260205ff3` /* PUSH20, BALANCE, RETURN */ }, block),
    ],
    ['by code', false, (ask) => (account, block) => ask('ots_hasCode', account, Object(block).blockNumber ?? block)],
  ] satisfies [string, unknown, (ask: Awaited<ReturnType<typeof rpcOf>>) => Read][])(
    'is read by many at once: %s',
    async (_, nothing, readWith) => {
      await using sandbox = await testNamespace()
      const ask = await rpcOf(sandbox, '31337')
      const blockNumber = await ask('eth_blockNumber')
      await ask('evm_mine')
      for (const block of [blockNumber, { blockNumber }]) {
        expect(await many(readWith(ask), block)).toEqual(Array(MANY).fill(nothing))
      }
    },
  )

  test('is read while transfers are mined', async () => {
    await using sandbox = await testNamespace()
    const ask = await rpcOf(sandbox, '31337')
    const partner = new Partner(sandbox)
    const portfolio = await partner.open('alice')
    const first = await ask('eth_blockNumber')
    const deposits = async () => {
      for (let count = 0; count < 20; count++) {
        expect(await partner.deposit('alice', portfolio, '1')).toMatchObject({ status: 200 })
      }
    }
    const reads = async () => {
      for (let count = 0; count < 5; count++) {
        const read: Read = (account, block) => ask('eth_getBalance', account, block)
        expect(await many(read, first)).toEqual(Array(MANY).fill('0x0'))
      }
    }
    await Promise.all([deposits(), reads()])
  })

  test('is read while blocks are mined, of a fork whose upstream is slow', async () => {
    const upstream = await startUpstream('8453')
    try {
      await using sandbox = await sandboxWith(forked(upstream))
      const ask = await rpcOf(sandbox, '8453')
      await ask('evm_mine')
      const old = await ask('eth_blockNumber')
      await ask('evm_mine')
      upstream.be('slow')
      const read: Read = (account, block) => ask('eth_getBalance', account, block)
      const mined = Promise.all(Array.from({ length: MANY }, () => ask('evm_mine')))
      expect(await many(read, old)).toEqual(Array(MANY).fill('0x0'))
      expect(await mined).toEqual(Array(MANY).fill('0x0'))
    } finally {
      await upstream.stop()
    }
  })
})
