import { type Abi, type Address, maxUint256, parseUnits, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { compiled, devAccount, type LocalChain, NO_FEES, startLocalChain } from './local-chain.ts'

const DAY = 86_400
const YEAR = 365 * DAY
const [owner, alice, bob, carol] = [devAccount(0), devAccount(1), devAccount(2), devAccount(3)]
const usdc = (amount: string) => parseUnits(amount, 6)
const percent = (rate: string) => parseUnits(rate, 16)

describe('the ERC-4626 vault', () => {
  let chain: LocalChain
  let token: Address
  let vault: Address

  async function deploy(name: 'TestToken' | 'YieldVault', args: unknown[]) {
    const { abi, bytecode } = compiled(name)
    const hash = await chain.client.deployContract({
      abi: abi as Abi,
      bytecode,
      args,
      account: owner,
      chain: null,
      ...NO_FEES,
    })
    return (await chain.client.waitForTransactionReceipt({ hash })).contractAddress!
  }

  const contract = (address: Address) => ({
    address,
    abi: compiled(address === token ? 'TestToken' : 'YieldVault').abi as Abi,
  })

  const read = (address: Address, functionName: string, ...args: unknown[]) =>
    chain.client.readContract({ ...contract(address), functionName, args }) as Promise<bigint>

  async function write(account: typeof owner, address: Address, functionName: string, ...args: unknown[]) {
    const { request } = await chain.client.simulateContract({
      ...contract(address),
      functionName,
      args,
      account,
      ...NO_FEES,
    })
    // Estimated gas may be short: a second later there is yield to mint where there was none.
    const hash = await chain.client.writeContract({ ...request, gas: 3_000_000n, chain: null })
    expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe('success')
  }

  const deposit = (account: typeof owner, amount: bigint) => write(account, vault, 'deposit', amount, account.address)

  /** Redeems all shares; answers with what the account was paid. */
  async function exit(account: typeof owner) {
    const before = await read(token, 'balanceOf', account.address)
    await write(
      account,
      vault,
      'redeem',
      await read(vault, 'balanceOf', account.address),
      account.address,
      account.address,
    )
    return (await read(token, 'balanceOf', account.address)) - before
  }

  beforeAll(async () => {
    chain = await startLocalChain()
  })
  afterAll(() => chain.stop())

  beforeEach(async () => {
    token = await deploy('TestToken', ['USD Coin', 'USDC', 6, owner.address])
    vault = await deploy('YieldVault', [token, 'Sandbox USDC Vault', 'svUSDC', percent('5')])
    await write(owner, token, 'setMinter', vault, true)
    for (const account of [alice, bob, carol]) {
      await write(owner, token, 'mint', account.address, usdc('10000000'))
      await write(account, token, 'approve', vault, maxUint256)
    }
  })

  test('earns its yearly rate by block time', async () => {
    await deposit(alice, usdc('1000'))
    await chain.goTo((await chain.time()) + YEAR)
    expect(await read(vault, 'maxWithdraw', alice.address)).toBe(usdc('1049.999999'))
    expect(await read(vault, 'totalAssets')).toBe(usdc('1050'))
  })

  test('stays solvent through accruals and a change of the rate, and everyone leaves whole', async () => {
    await deposit(alice, usdc('1000'))
    await chain.goTo((await chain.time()) + 100 * DAY)
    await deposit(bob, usdc('2500000.123456'))
    await write(owner, vault, 'setRate', percent('12'))
    await chain.goTo((await chain.time()) + 40 * DAY)
    await deposit(carol, 1n)
    await write(bob, vault, 'withdraw', usdc('1000000'), bob.address, bob.address)
    await write(owner, vault, 'setRate', 0n)
    await chain.goTo((await chain.time()) + 10 * DAY)

    const aliceOwed = await read(vault, 'maxWithdraw', alice.address)
    const bobOwed = await read(vault, 'maxWithdraw', bob.address)
    expect(Number(aliceOwed)).toBeCloseTo(Number(usdc('1000')) * (1 + (0.05 * 100) / 365) * (1 + (0.12 * 40) / 365), -2)
    expect(await exit(alice)).toBe(aliceOwed)
    expect(await exit(bob)).toBe(bobOwed)
    await exit(carol)
    expect(await read(vault, 'totalSupply')).toBe(0n)
    const dust = await read(vault, 'totalAssets')
    expect(dust).toBeLessThan(10n)
    expect(await read(token, 'balanceOf', vault)).toBe(dust)
  })

  test('loses no yield when it is touched every second', async () => {
    await write(owner, vault, 'setRate', percent('100'))
    await deposit(alice, usdc('4'))
    const start = await chain.time()
    for (let second = 1; second <= 17; second++) {
      await chain.client.setNextBlockTimestamp({ timestamp: BigInt(start + second) })
      await write(owner, vault, 'setRate', percent('100'))
    }
    // 4,000,000 minor units at 100 % a year: one in 7.9 seconds.
    expect(await read(vault, 'totalAssets')).toBe(usdc('4') + 2n)
  })

  test('earns nothing while it is empty, and starts anew after everyone left', async () => {
    await deposit(alice, usdc('1000'))
    expect(await exit(alice)).toBe(usdc('1000'))
    await chain.goTo((await chain.time()) + YEAR)
    await deposit(bob, usdc('1000'))
    expect(await read(vault, 'maxWithdraw', bob.address)).toBe(usdc('1000'))
  })

  test('ignores a donation', async () => {
    await write(owner, vault, 'setRate', 0n)
    await deposit(alice, usdc('1000'))
    await write(bob, token, 'transfer', vault, usdc('500000'))
    expect(await read(vault, 'totalAssets')).toBe(usdc('1000'))
    expect(await exit(alice)).toBe(usdc('1000'))
  })

  test('gives the first depositor no way to inflate the share price', async () => {
    await write(owner, vault, 'setRate', 0n)
    await deposit(alice, 1n)
    await write(alice, token, 'transfer', vault, usdc('1000000'))
    await deposit(bob, usdc('1500000'))
    expect(await exit(bob)).toBe(usdc('1500000'))
    expect(await exit(alice)).toBe(1n)
  })

  test('tolerates a clock that goes back', async () => {
    await deposit(alice, usdc('1000'))
    const later = (await chain.time()) + 30 * DAY
    await chain.goTo(later)
    await deposit(alice, usdc('1'))
    const worth = await read(vault, 'totalAssets')
    await chain.client.request({ method: 'anvil_setTime', params: [later - 10 * DAY] } as never)
    await deposit(bob, usdc('1'))
    expect(await chain.time()).toBeLessThan(later)
    expect(await read(vault, 'totalAssets')).toBe(worth + usdc('1'))
    expect(await exit(bob)).toBeGreaterThanOrEqual(usdc('1') - 1n)
    await chain.goTo(later + DAY)
  })

  test('lets nobody but its owner set the rate, and no rate beyond its limit', async () => {
    expect(await read(vault, 'owner')).toBe(owner.address)
    await expect(write(alice, vault, 'setRate', 0n)).rejects.toThrow('OwnableUnauthorizedAccount')
    await expect(write(owner, vault, 'setRate', percent('10001'))).rejects.toThrow('RateTooHigh')
    expect(await read(vault, 'rate')).toBe(percent('5'))
  })

  test('lets nothing in or out while its owner has paused it, and earns all the same', async () => {
    await deposit(alice, usdc('1000'))
    const limits = () =>
      Promise.all(
        ['maxDeposit', 'maxMint', 'maxWithdraw', 'maxRedeem'].map((limit) => read(vault, limit, alice.address)),
      )
    await expect(write(alice, vault, 'setPaused', true)).rejects.toThrow('OwnableUnauthorizedAccount')
    for (let time = 0; time < 2; time++) await write(owner, vault, 'setPaused', true)
    expect(await limits()).toEqual([0n, 0n, 0n, 0n])
    await expect(deposit(alice, 1n)).rejects.toThrow('ERC4626ExceededMaxDeposit')
    await expect(deposit(alice, 0n)).rejects.toThrow('EnforcedPause')
    await expect(write(alice, vault, 'mint', 1n, alice.address)).rejects.toThrow('ERC4626ExceededMaxMint')
    await expect(exit(alice)).rejects.toThrow('ERC4626ExceededMaxRedeem')
    const withdrawal = write(alice, vault, 'withdraw', 1n, alice.address, alice.address)
    await expect(withdrawal).rejects.toThrow('ERC4626ExceededMaxWithdraw')

    await chain.goTo((await chain.time()) + YEAR)
    expect(await read(vault, 'totalAssets')).toBeGreaterThanOrEqual(usdc('1050'))
    await write(owner, vault, 'setPaused', false)
    for (const limit of await limits()) expect(limit).toBeGreaterThan(0n)
    expect(await exit(alice)).toBeGreaterThanOrEqual(usdc('1049.999999'))
  })

  test('remembers the rate it was made with', async () => {
    await write(owner, vault, 'setRate', percent('12'))
    expect(await read(vault, 'initialRate')).toBe(percent('5'))
  })

  test('takes no deposit so large that accruing could overflow', async () => {
    const most = 2n ** 128n - 1n
    expect(await read(vault, 'maxDeposit', zeroAddress)).toBe(most)
    await write(owner, token, 'mint', alice.address, most)
    await expect(deposit(alice, most + 1n)).rejects.toThrow('ERC4626ExceededMaxDeposit')
    await write(owner, vault, 'setRate', percent('10000'))
    await deposit(alice, most)
    await chain.goTo((await chain.time()) + YEAR)
    expect(await exit(alice)).toBeGreaterThan(most * 100n)
    await expect(write(owner, token, 'mint', alice.address, 2n ** 192n)).rejects.toThrow('MintTooLarge')
  })
})
