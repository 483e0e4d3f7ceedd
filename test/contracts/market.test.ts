import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Address, formatUnits, getAddress, maxUint256, parseAbi, parseUnits, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EmbeddedMarket } from '../../src/domain/chain-setup.ts'
import { devAccount, type LocalChain, NO_FEES, startLocalChain } from './local-chain.ts'

const out = new URL('../../contracts/out/', import.meta.url)
const market: EmbeddedMarket = JSON.parse(readFileSync(new URL('market.json', out), 'utf8'))
const DAY = 86_400
const abi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function getAssetPrice(address asset) view returns (uint256)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'function rate() view returns (uint256)',
  'function totalAssets() view returns (uint256)',
])

describe('the state of the embedded chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'market-state-'))
  const alice = devAccount(9)
  let chain: LocalChain

  const read = (
    address: Address,
    functionName: 'balanceOf' | 'getAssetPrice' | 'rate' | 'totalAssets',
    ...args: Address[]
  ) => chain.client.readContract({ address, abi, functionName, args } as never) as Promise<bigint>

  async function write(address: Address, functionName: string, args: unknown[]) {
    const request = { address, abi, functionName, args, account: alice, ...NO_FEES }
    const hash = await chain.client.writeContract(request as never)
    const { status } = await chain.client.waitForTransactionReceipt({ hash })
    expect(status, functionName).toBe('success')
  }

  beforeAll(async () => {
    const file = join(folder, 'state.json')
    writeFileSync(file, gunzipSync(readFileSync(new URL('market-state.json.gz', out))))
    chain = await startLocalChain(['--load-state', file])
  })

  afterAll(async () => {
    await chain.stop()
    rmSync(folder, { recursive: true })
  })

  test('loads at the block and with the addresses that market.json names', async () => {
    expect(await chain.time()).toBe(market.timestamp)
    expect(await chain.client.getChainId()).toBe(Number(market.chain_id))
    for (const address of [market.aave_pool, market.price_oracle, ...Object.values(market.vaults)]) {
      expect(address).toBe(getAddress(address))
      expect(await chain.client.getCode({ address })).toMatch(/^0x[0-9a-f]{100}/)
    }
    expect(Object.keys(market.vaults)).toEqual(Object.keys(market.tokens))
  })

  test('has its addresses where clients may have written them down', () => {
    expect(market).toMatchObject({
      price_oracle: '0x4A679253410272dd5232B3Ff7cF5dbB88f295319',
      aave_pool: '0xd8058efe0198ae9dD7D563e1b4938Dcbc86A1F81',
      tokens: {
        USDC: { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3' },
        WETH: { address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512' },
      },
      vaults: {
        USDC: '0x809d550fca64d94Bd9F66E60752A544199cfAC3D',
        WETH: '0x4c5859f0F772848b2D91F1D83E2Fe57935348029',
      },
    })
  })

  test('prices USDC at one dollar and WETH at a fixed price', async () => {
    expect(await read(market.price_oracle, 'getAssetPrice', market.tokens.USDC!.address)).toBe(100_000_000n)
    expect(await read(market.price_oracle, 'getAssetPrice', market.tokens.WETH!.address)).toBe(250_000_000_000n)
  })

  // Percent earned in 30 days, times 365 / 30, at the latest a few years after the state was made.
  test.each([
    { symbol: 'USDC', aave: [3.9, 4.6], vault: 5 },
    { symbol: 'WETH', aave: [2.3, 2.7], vault: 3 },
  ])('$symbol earns a few percent a year on Aave and in its vault', async ({ symbol, aave, vault: vaultPercent }) => {
    const { address: token, decimals } = market.tokens[symbol]!
    const vault = market.vaults[symbol]!
    const amount = parseUnits('1000', decimals)
    // The clock is lost on load and has to be set before the first transaction.
    await chain.goTo(Math.max(await chain.time(), Math.floor(Date.now() / 1000)) + 1)
    await chain.client.request({
      method: 'anvil_dealERC20',
      params: [alice.address, token, toHex(2n * amount)],
    } as never)
    await write(token, 'approve', [market.aave_pool, maxUint256])
    await write(token, 'approve', [vault, maxUint256])
    await write(market.aave_pool, 'supply', [token, amount, alice.address, 0])
    await write(vault, 'deposit', [amount, alice.address])
    expect(await read(token, 'balanceOf', alice.address)).toBe(0n)
    expect(await read(vault, 'rate')).toBe(parseUnits(String(vaultPercent), 16))
    expect(await read(vault, 'totalAssets')).toBeGreaterThan(parseUnits('100', decimals))

    await chain.goTo((await chain.time()) + 30 * DAY)
    await write(market.aave_pool, 'withdraw', [token, maxUint256, alice.address])
    const fromAave = await read(token, 'balanceOf', alice.address)
    await write(vault, 'redeem', [await read(vault, 'balanceOf', alice.address), alice.address, alice.address])
    const fromVault = (await read(token, 'balanceOf', alice.address)) - fromAave

    const yearlyPercent = (paid: bigint) => (Number(formatUnits(paid, decimals)) / 1000 - 1) * 100 * (365 / 30)
    expect(yearlyPercent(fromAave)).toBeGreaterThan(aave[0]!)
    expect(yearlyPercent(fromAave)).toBeLessThan(aave[1]!)
    expect(yearlyPercent(fromVault)).toBeCloseTo(vaultPercent, 2)
  })
})
