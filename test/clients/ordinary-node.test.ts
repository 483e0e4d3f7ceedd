import { ethers } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, type Hex, http, type PublicClient, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const ERC20 = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address, uint256) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const RECEIVER = '0x00000000000000000000000000000000000a11ce'
/** Anvil's second development account has ether; the other one has nothing. */
const RICH = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const POOR = `0x${'7'.repeat(64)}` as const

let sandbox: SandboxHandle
let acme: Partner
let rpcUrl: string
let token: Hex
let reader: PublicClient
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  rpcUrl = (await sandbox.credentials()).rpc_urls['31337']!
  token = (await acme.pool('aave-usdc')).token_address as Hex
  reader = createPublicClient({ transport: http(rpcUrl), pollingInterval: 50 })
})
afterAll(() => sandbox.stop())

/** As an application sets viem up: with nothing but an id and a URL. */
function viemWallet(key: Hex) {
  const chain = defineChain({
    id: 31337,
    name: 'sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  return createWalletClient({ account: privateKeyToAccount(key), chain, transport: http() })
}

/** Gives an account a few minor units to send on. */
const deal = (address: string) =>
  sandbox.chain.request({ method: 'anvil_dealERC20', params: [address, token, '0x5'] } as never)

describe('fees', () => {
  test('say of themselves that they are nothing, in every way a client may ask', async () => {
    expect(await reader.getGasPrice()).toBe(0n)
    expect(await reader.estimateMaxPriorityFeePerGas()).toBe(0n)
    expect(await reader.estimateFeesPerGas()).toEqual({ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })
    expect((await reader.getBlock()).baseFeePerGas).toBe(0n)
    const { baseFeePerGas, reward } = await reader.getFeeHistory({ blockCount: 3, rewardPercentiles: [50] })
    expect(new Set([...baseFeePerGas, ...reward!.flat()])).toEqual(new Set([0n]))
  })

  test.each([
    ['an account with ether', RICH],
    ['one without', POOR],
  ] as const)('viem writes with its defaults, for %s', async (_, key) => {
    const wallet = viemWallet(key)
    const sent = await wallet.sendTransaction({ to: RECEIVER, value: 0n })
    expect(await reader.waitForTransactionReceipt({ hash: sent })).toMatchObject({ status: 'success' })
    await deal(wallet.account.address)
    const args = [wallet.account.address, 5n] as const
    const given = await wallet.writeContract({ address: token, abi: ERC20, functionName: 'transfer', args })
    expect(await reader.waitForTransactionReceipt({ hash: given })).toMatchObject({ status: 'success' })
  })

  test.each([
    ['an account with ether', RICH],
    ['one without', POOR],
  ])('ethers writes with its defaults, for %s', async (_, key) => {
    // Its defaults but for speed: it repeats the answer to the same question for a quarter of a second, the nonce too, and here
    // the first transaction is mined before that is over.
    const provider = new ethers.JsonRpcProvider(rpcUrl, undefined, { pollingInterval: 50, cacheTimeout: -1 })
    try {
      const signer = new ethers.Wallet(key, provider)
      const sent = await signer.sendTransaction({ to: RECEIVER, value: 0n })
      expect(await sent.wait()).toMatchObject({ status: 1 })
      await deal(signer.address)
      const contract = new ethers.Contract(token, ['function transfer(address, uint256)'], signer)
      const given = await contract.getFunction('transfer')(signer.address, 5n)
      expect(await given.wait()).toMatchObject({ status: 1 })
    } finally {
      provider.destroy()
    }
  })

  test('are nothing in what the node fills in and signs itself', async () => {
    const [from] = (await sandbox.chain.request({ method: 'eth_accounts' as never })) as Hex[]
    const filled = await sandbox.chain.request({
      method: 'eth_fillTransaction',
      params: [{ from, to: RECEIVER }],
    } as never)
    expect(filled).toMatchObject({ tx: { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' } })
  })
})

test('confirmations come though nobody does anything: whoever asks for the latest block gets a new one each second', async () => {
  const hash = await viemWallet(RICH).sendTransaction({ to: RECEIVER, value: 1n })
  expect(await reader.waitForTransactionReceipt({ hash, confirmations: 3 })).toMatchObject({ status: 'success' })
})

test('under a frozen clock confirmations come with the blocks that somebody mines', async () => {
  await sandbox.clock.freeze()
  const hash = await viemWallet(RICH).sendTransaction({ to: RECEIVER, value: 1n })
  const { blockNumber } = await reader.waitForTransactionReceipt({ hash })
  const confirmed = reader.waitForTransactionReceipt({ hash, confirmations: 3, timeout: 100_000 })
  expect(await reader.getBlockNumber({ cacheTime: 0 })).toBe(blockNumber)
  await reader.request({ method: 'evm_mine' } as never)
  await sandbox.clock.advance('1s')
  expect(await confirmed).toMatchObject({ status: 'success' })
  await sandbox.clock.unfreeze()
})

describe('state of older blocks', () => {
  test('is that of the block: what a wallet held before and after each deposit, at the block of its receipt', async () => {
    const portfolio = await acme.open('older')
    const wallet = (await acme.post('end_users', { external_id: 'older' })).body.wallet_address as Hex
    const held = (blockNumber: bigint) =>
      reader.readContract({ address: token, abi: ERC20, functionName: 'balanceOf', args: [wallet], blockNumber })
    const blocks: bigint[] = []
    for (let i = 0; i < 6; i++) {
      const { tx_hash } = (await acme.deposit('older', portfolio, '1000')).body
      blocks.push((await reader.getTransactionReceipt({ hash: tx_hash })).blockNumber)
    }
    for (const [i, block] of blocks.entries()) {
      expect(await held(block)).toBe(1_000_000_000_000n - 1000n * BigInt(i + 1))
      expect(await held(block - 1n)).toBe(1_000_000_000_000n - 1000n * BigInt(i))
      expect(await reader.getTransactionCount({ address: wallet, blockNumber: block })).toBe(i + 1)
    }
    const { hash: blockHash } = await reader.getBlock({ blockNumber: blocks[2]! })
    const count = { method: 'eth_getTransactionCount', params: [wallet, { blockHash }] }
    expect(await reader.request(count as never)).toBe('0x3')
  })

  test('is kept of the last 128, and of others it is said that it is not', async () => {
    await sandbox.clock.freeze()
    await sandbox.chain.mine({ blocks: 130 })
    const latest = await reader.getBlockNumber()
    const balance = (blockNumber: bigint) =>
      reader.readContract({ address: token, abi: ERC20, functionName: 'balanceOf', args: [RECEIVER], blockNumber })
    for (const back of [0n, 1n, 50n, 127n]) expect(await balance(latest - back)).toBe(0n)
    const from = latest - 127n
    const gone = `state of block ${from - 1n} is not kept: that of blocks ${from} to ${latest} is`
    await expect(balance(from - 1n)).rejects.toThrow(gone)
    await expect(reader.getBalance({ address: RECEIVER, blockNumber: from - 1n })).rejects.toThrow(gone)
    await expect(reader.getBalance({ address: RECEIVER, blockNumber: 0n })).rejects.toThrow('is not kept')
    expect((await reader.getBlock({ blockNumber: from - 1n })).number).toBe(from - 1n)
    await sandbox.clock.unfreeze()
  })
})

test('latest, safe, finalized and earliest are blocks with numbers, and safe ones stay', async () => {
  await sandbox.clock.freeze()
  const number = async (blockTag: 'latest' | 'safe' | 'finalized' | 'earliest' | 'pending') =>
    (await reader.getBlock({ blockTag })).number
  const latest = (await number('latest'))!
  expect(await number('safe')).toBe(latest - 1n)
  expect(await number('finalized')).toBe(latest - 2n)
  expect(await number('earliest')).toBe(3n)
  expect((await reader.getBlock({ blockTag: 'pending' })).parentHash).toBe((await reader.getBlock()).hash)
  for (const blockTag of ['safe', 'finalized', 'pending'] as const) {
    const read = { address: token, abi: ERC20, functionName: 'balanceOf', args: [RECEIVER] } as const
    expect(await reader.readContract({ ...read, blockTag })).toBe(0n)
    expect(await reader.getTransactionCount({ address: RECEIVER, blockTag })).toBe(0)
  }
  const logs = await reader.getLogs({ fromBlock: 'earliest', toBlock: 'finalized', event: ERC20[2], address: token })
  expect(logs.length).toBeGreaterThan(0)
  await sandbox.clock.unfreeze()
})

test('callTracer shows the calls of a recent deposit', async () => {
  const portfolio = await acme.open('traced')
  const { tx_hash } = (await acme.deposit('traced', portfolio, '1000')).body
  await acme.deposit('traced', portfolio, '1000')
  const trace = { method: 'debug_traceTransaction', params: [tx_hash, { tracer: 'callTracer' }] }
  const { type, calls } = (await reader.request(trace as never)) as { type: string; calls: unknown[] }
  expect(type).toBe('CALL')
  expect(JSON.stringify(calls)).toContain(token.toLowerCase())
})

describe('Multicall3', () => {
  const balance = (address: Hex) =>
    ({ address: token, abi: ERC20, functionName: 'balanceOf', args: [address] }) as const

  test('stands at its address, for clients that are told so and for the handle', async () => {
    const contracts = [balance(MULTICALL3), balance(RECEIVER), { ...balance(RECEIVER), address: RECEIVER }] as const
    const expected = [{ result: 0n }, { result: 0n }, { status: 'failure' }]
    expect(await reader.multicall({ contracts, multicallAddress: MULTICALL3 })).toMatchObject(expected)
    expect(await sandbox.chain.multicall({ contracts })).toMatchObject(expected)
  })

  test('gathers what a client asks at once into one call', async () => {
    const bodies: string[] = []
    const onFetchRequest = (request: Request) =>
      void request
        .clone()
        .text()
        .then((text) => bodies.push(text))
    const chain = { ...sandbox.chain.chain!, id: 31337 }
    const transport = http(rpcUrl, { onFetchRequest })
    const client = createPublicClient({ chain, batch: { multicall: true }, transport })
    const read = () => client.readContract(balance(MULTICALL3))
    expect(await Promise.all([read(), read(), read()])).toEqual([0n, 0n, 0n])
    expect(bodies.filter((body) => body.includes('eth_call'))).toHaveLength(1)
    expect(bodies.join()).toContain(MULTICALL3.toLowerCase().slice(2, 12))
  })

  test('knows of block, chain and balances, and lets ethers read them', async () => {
    const provider = new ethers.JsonRpcProvider(rpcUrl)
    try {
      const contract = new ethers.Contract(
        MULTICALL3,
        ['function getEthBalance(address) view returns (uint256)'],
        provider,
      )
      expect(await contract.getFunction('getEthBalance')(privateKeyToAccount(RICH).address)).toBeGreaterThan(0n)
    } finally {
      provider.destroy()
    }
    const abi = parseAbi([
      'function getChainId() view returns (uint256)',
      'function getBlockNumber() view returns (uint256)',
    ])
    const read = { address: MULTICALL3, abi } as const
    expect(await reader.readContract({ ...read, functionName: 'getChainId' })).toBe(31337n)
    expect(await reader.readContract({ ...read, functionName: 'getBlockNumber' })).toBeGreaterThan(0n)
  })
})
