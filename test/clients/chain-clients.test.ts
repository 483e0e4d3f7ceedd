import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const ABI = parseAbi([
  // ReserveData up to the aToken's address.
  'function getReserveData(address) view returns ((uint256 c, uint128 i, uint128 r, uint128 b, uint128 v, uint128 s, uint40 t, uint16 id, address aToken))',
  'function balanceOf(address) view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
])

let sandbox: SandboxHandle
let acme: Partner
let rpcUrl: string
beforeAll(async () => {
  sandbox = await testNamespace()
  // Worth is read by the sandbox and by others: at one moment.
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
  rpcUrl = (await sandbox.credentials()).rpc_urls['31337']!
})
afterAll(() => sandbox.stop())

test.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
  'a deposit into %s is found on chain by any client, and worth there what the service says',
  async (poolId) => {
    const user = `carol-${poolId}`
    const portfolio = await acme.open(user, poolId)
    const { wallet_address } = (await acme.post('end_users', { external_id: user })).body
    const pool = (await acme.pool(poolId)) as Record<'market_address' | 'token_address', Hex>
    const { tx_hash } = (await acme.deposit(user, portfolio, '123456789')).body
    await sandbox.clock.advance(90 * 24 * 60 * 60 * 1000)
    const [listed] = (await acme.get(`end_users/${user}/portfolios`)).body.data

    const client = createPublicClient({ transport: http(rpcUrl) })
    expect(await client.getChainId()).toBe(31337)
    const receipt = await client.getTransactionReceipt({ hash: tx_hash })
    expect(receipt).toMatchObject({ status: 'success', from: wallet_address.toLowerCase() })
    expect(receipt.to).toBe(pool.market_address.toLowerCase())

    const read = { abi: ABI, address: pool.market_address }
    const [holding, worth] = poolId.startsWith('aave')
      ? [await client.readContract({ ...read, functionName: 'getReserveData', args: [pool.token_address] }), undefined]
      : [
          undefined,
          async (shares: bigint) => client.readContract({ ...read, functionName: 'convertToAssets', args: [shares] }),
        ]
    const address = holding?.aToken ?? pool.market_address
    const balance = await client.readContract({ abi: ABI, address, functionName: 'balanceOf', args: [wallet_address] })
    expect(listed.total_balance).toBe((worth ? await worth(balance) : balance).toString())
    expect(BigInt(listed.total_balance)).toBeGreaterThan(123456789n)
  },
)

test('a raw JSON-RPC request finds the receipt too', async () => {
  const portfolio = await acme.open('dave')
  const { tx_hash } = (await acme.deposit('dave', portfolio, '1000')).body
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [tx_hash] })
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(await response.json()).toMatchObject({ result: { transactionHash: tx_hash, status: '0x1' } })
})
