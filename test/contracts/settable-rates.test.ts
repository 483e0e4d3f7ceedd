import { type Abi, type Address, parseUnits, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { compiled, devAccount, type LocalChain, NO_FEES, startLocalChain } from './local-chain.ts'

const [owner, alice, aToken, strategy] = [devAccount(0), devAccount(1), devAccount(2), devAccount(3)]
const ray = (fraction: string) => parseUnits(fraction, 27)

describe('the settable rates of an Aave market', () => {
  let chain: LocalChain
  let token: Address
  let rates: Address

  async function deploy(name: 'SettableRates' | 'TestToken', args: unknown[]): Promise<Address> {
    const { abi, bytecode } = compiled(name)
    const deployment = { abi: abi as Abi, bytecode, args, account: owner, chain: null, ...NO_FEES }
    const hash = await chain.client.deployContract(deployment)
    return (await chain.client.waitForTransactionReceipt({ hash })).contractAddress!
  }

  const contract = (address: Address) => ({
    address,
    abi: compiled(address === token ? 'TestToken' : 'SettableRates').abi as Abi,
  })

  async function write(account: typeof owner, address: Address, functionName: string, ...args: unknown[]) {
    const call = { ...contract(address), functionName, args, account, ...NO_FEES }
    const { request } = await chain.client.simulateContract(call)
    const hash = await chain.client.writeContract({ ...request, chain: null })
    await chain.client.waitForTransactionReceipt({ hash })
  }

  /** The rates for suppliers and borrowers; the reserve's tokens not lent out lie with the account `aToken`. */
  async function calculated(debt: bigint, rest: { added?: bigint; taken?: bigint; reserveFactor?: bigint } = {}) {
    const { added = 0n, taken = 0n, reserveFactor = 1_000n } = rest
    const params = {
      unbacked: 0n,
      liquidityAdded: added,
      liquidityTaken: taken,
      totalStableDebt: 0n,
      totalVariableDebt: debt,
      averageStableBorrowRate: 0n,
      reserveFactor,
      reserve: token,
      aToken: aToken.address,
    }
    const call = { ...contract(rates), functionName: 'calculateInterestRates', args: [params] }
    const [supply, stable, variable] = (await chain.client.readContract(call)) as [bigint, bigint, bigint]
    expect(stable).toBe(0n)
    return { supply, variable }
  }

  beforeAll(async () => {
    chain = await startLocalChain()
  })
  afterAll(() => chain.stop())
  beforeEach(async () => {
    token = await deploy('TestToken', ['USD Coin', 'USDC', 6, owner.address])
    rates = await deploy('SettableRates', [[token], [strategy.address]])
  })

  test('pays suppliers what was set, out of what borrowers pay', async () => {
    await write(owner, token, 'mint', aToken.address, 200n)
    await write(owner, rates, 'setRate', token, ray('0.09'))
    // 800 of 1,000 are lent: 9 % for all of it are 11.25 % of what is lent, and 12.5 % with the treasury's tenth.
    expect(await calculated(800n)).toEqual({ supply: ray('0.09'), variable: ray('0.125') })
    expect(await calculated(800n, { added: 1_000n, taken: 200n })).toEqual({
      supply: ray('0.09'),
      variable: ray('0.225'),
    })
  })

  test('is bounded with hardly any debt, with none, and with all interest for the treasury', async () => {
    await write(owner, rates, 'setRate', token, ray('0.09'))
    expect(await calculated(0n)).toEqual({ supply: ray('0.09'), variable: ray('0.09') })
    await write(owner, token, 'mint', aToken.address, 1_000_000n)
    expect(await calculated(0n)).toEqual({ supply: ray('0.09'), variable: ray('100') })
    expect(await calculated(1n, { taken: 1n, reserveFactor: 10_000n })).toEqual({
      supply: ray('0.09'),
      variable: ray('90'),
    })
  })

  test('remembers the strategy each reserve has otherwise', async () => {
    const original = (reserve: Address) =>
      chain.client.readContract({ ...contract(rates), functionName: 'original', args: [reserve] })
    expect(await original(token)).toBe(strategy.address)
    expect(await original(alice.address)).toBe(zeroAddress)
  })

  test('lets nobody but its owner set a rate, and no rate beyond its limit', async () => {
    await expect(write(alice, rates, 'setRate', token, 0n)).rejects.toThrow('OwnableUnauthorizedAccount')
    await expect(write(owner, rates, 'setRate', token, ray('100') + 1n)).rejects.toThrow('RateTooHigh')
  })
})
