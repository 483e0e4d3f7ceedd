import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Wallets } from '../../src/chain/wallets/wallet.ts'
import { MARKET_OWNER } from '../../src/domain/chain-setup.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { tokenBalance } from '../helpers/on-chain.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

const SEED = 11
/** The tenant of the shipped fixture. */
const ACME = '0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a01'
const ABI = parseAbi([
  'function mint(address to, uint256 amount)',
  'function setMinter(address account, bool allowed)',
  'function transferOwnership(address newOwner)',
  'function execute(address target, bytes data)',
  'function setRate(uint256 rate)',
  'function setPaused(bool paused)',
  'function setPoolImpl(address implementation)',
  'function addPoolAdmin(address admin)',
  'function setReservePause(address asset, bool paused)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
  'function borrow(address asset, uint256 amount, uint256 rateMode, uint16 referralCode, address onBehalfOf)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getPoolConfigurator() view returns (address)',
  'function getACLManager() view returns (address)',
])
const THIEF = '0x00000000000000000000000000000000000badd1'

let sandbox: SandboxHandle
let acme: Partner
let rpcUrl: string
let token: Hex
let pool: Hex
let vault: Hex
let carol: Hex
beforeAll(async () => {
  sandbox = await testSandbox({ host: '0.0.0.0', seed: SEED })
  acme = new Partner(sandbox)
  rpcUrl = (await sandbox.credentials()).rpc_urls['31337']!
  const { token_address, market_address } = await acme.pool('aave-usdc')
  token = token_address as Hex
  pool = market_address as Hex
  vault = (await acme.pool('morpho-usdc')).market_address as Hex
  await acme.open('carol')
  carol = (await acme.post('end_users', { external_id: 'carol' })).body.wallet_address
})
afterAll(() => sandbox.stop())

async function rpc<Result>(method: string, ...params: unknown[]): Promise<Result> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = (await (await fetch(rpcUrl, { method: 'POST', headers, body })).json()) as {
    result: Result
    error?: { message: string }
  }
  if (answer.error) throw new Error(answer.error.message)
  return answer.result
}

interface Sender {
  address: Hex
  sign(transaction: { chainId: number; nonce: number; to: Hex; gas: bigint; data: Hex }): Promise<Hex>
}

function keyOf(account: ReturnType<typeof privateKeyToAccount> | ReturnType<typeof mnemonicToAccount>): Sender {
  const free = { type: 'eip1559', maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
  return {
    address: account.address,
    sign: (transaction) => account.signTransaction({ ...free, ...transaction }),
  }
}

const developer = (addressIndex: number) =>
  keyOf(mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex }))

async function endUser(): Promise<Sender> {
  const wallets = new Wallets(SEED)
  await wallets.load()
  const wallet = wallets.of({ tenant_id: ACME, external_id: 'carol' })
  expect(wallet.address).toBe(carol)
  return { address: wallet.address, sign: async (transaction) => wallet.sign(transaction).raw_transaction }
}

const SENDERS: [string, () => Sender | Promise<Sender>][] = [
  ['an ordinary account', () => keyOf(privateKeyToAccount(`0x${'42'.repeat(32)}`))],
  ['the first development account, which deployed everything', () => developer(0)],
  ['the second development account', () => developer(1)],
  ['the third development account', () => developer(2)],
  ["an end user's wallet", endUser],
]

/** The status of a transaction that was mined. */
async function status(sender: Sender, to: Hex, data: Hex): Promise<Hex> {
  const nonce = Number(await rpc<Hex>('eth_getTransactionCount', sender.address, 'latest'))
  const raw = await sender.sign({ chainId: 31337, nonce, to, gas: 1_000_000n, data })
  return (await rpc<{ status: Hex }>('eth_sendRawTransactionSync', raw)).status
}

const encoded = (functionName: string, ...args: unknown[]) =>
  encodeFunctionData({ abi: ABI, functionName, args } as never)

async function read(to: Hex, functionName: string): Promise<Hex> {
  const word = await rpc<Hex>('eth_call', { to, data: encoded(functionName) }, 'latest')
  return `0x${word.slice(-40)}`
}

describe.each(SENDERS)('whoever may send, as %s', (_, open) => {
  let sender: Sender
  beforeEach(async () => {
    sender = await open()
  })

  test('mints no token, in no way', async () => {
    const mint = encoded('mint', THIEF, 1n)
    for (const [to, data] of [
      [token, mint],
      [token, encoded('setMinter', sender.address, true)],
      [token, encoded('transferOwnership', sender.address)],
      [MARKET_OWNER, encoded('execute', token, mint)],
    ] as const) {
      expect([data.slice(0, 10), await status(sender, to, data)]).toEqual([data.slice(0, 10), '0x0'])
    }
    expect(await tokenBalance(sandbox, token, THIEF)).toBe(0n)
  })

  test('has no say over a market, and nothing in it', async () => {
    const provider = await read(pool, 'ADDRESSES_PROVIDER')
    for (const [to, data] of [
      [vault, encoded('setRate', 10n ** 20n)],
      [vault, encoded('setPaused', true)],
      [vault, encoded('transferOwnership', sender.address)],
      [provider, encoded('setPoolImpl', sender.address)],
      [provider, encoded('transferOwnership', sender.address)],
      [await read(provider, 'getPoolConfigurator'), encoded('setReservePause', token, true)],
      [await read(provider, 'getACLManager'), encoded('addPoolAdmin', sender.address)],
      [pool, encoded('withdraw', token, 1n, sender.address)],
      [pool, encoded('borrow', token, 1n, 2n, 0, sender.address)],
      [vault, encoded('redeem', 1n, sender.address, sender.address)],
    ] as const) {
      expect([data.slice(0, 10), await status(sender, to, data)]).toEqual([data.slice(0, 10), '0x0'])
    }
  })
})

test('what the sandbox signed once to govern a market does nothing when it is sent again', async () => {
  const first = Number(await rpc<Hex>('eth_blockNumber'))
  await sandbox.faults.add({ kind: 'pool_paused', with: { pool: 'morpho-usdc' }, phase: 'on_request' } as never)
  const portfolio = await acme.open('carol', 'morpho-usdc')
  expect((await acme.deposit('carol', portfolio, '1000')).body.code).toBe('transaction_reverted')
  const signed: Hex[] = []
  for (let number = first + 1; number <= Number(await rpc<Hex>('eth_blockNumber')); number++) {
    const { transactions } = await rpc<{ transactions: { hash: Hex; to: Hex }[] }>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      true,
    )
    for (const { hash, to } of transactions) {
      if (to?.toLowerCase() !== MARKET_OWNER.toLowerCase()) continue
      signed.push(await rpc<Hex>('eth_getRawTransactionByHash', hash))
    }
  }
  expect(signed.length).toBeGreaterThan(0)
  await sandbox.faults.clear()
  await sandbox.reset()
  await acme.open('carol', 'morpho-usdc')
  for (const raw of signed) {
    const sent = await rpc<{ status: Hex }>('eth_sendRawTransactionSync', raw)
    expect(sent.status).toBe('0x0')
  }
  const again = await acme.open('carol', 'morpho-usdc')
  expect((await acme.deposit('carol', again, '1000')).status).toBe(200)
})
