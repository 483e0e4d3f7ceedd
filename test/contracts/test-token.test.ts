import { type Abi, type Address, encodeFunctionData, pad } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiled, devAccount, type LocalChain, NO_FEES, startLocalChain } from './local-chain.ts'

const [owner, alice, bob] = [devAccount(0), devAccount(1), devAccount(2)]

describe('the tokens and their owner', () => {
  let chain: LocalChain
  beforeAll(async () => {
    chain = await startLocalChain()
  })
  afterAll(() => chain.stop())

  async function deploy(name: 'MarketOwner' | 'TestToken', args: unknown[]): Promise<Address> {
    const { abi, bytecode } = compiled(name)
    const deployment = { abi: abi as Abi, bytecode, args, account: owner, chain: null, ...NO_FEES }
    const hash = await chain.client.deployContract(deployment)
    return (await chain.client.waitForTransactionReceipt({ hash })).contractAddress!
  }

  const contract = (name: 'MarketOwner' | 'TestToken', address: Address) => ({
    address,
    abi: compiled(name).abi as Abi,
  })

  const token = (ownedBy: Address) => deploy('TestToken', ['USD Coin', 'USDC', 6, ownedBy])

  async function write(
    account: typeof owner,
    { address, abi }: ReturnType<typeof contract>,
    functionName: string,
    ...args: unknown[]
  ) {
    const { request } = await chain.client.simulateContract({ address, abi, functionName, args, account, ...NO_FEES })
    const hash = await chain.client.writeContract({ ...request, chain: null })
    expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe('success')
  }

  test('minting is for the owner, and for whom it lets until it does not any more', async () => {
    const usdc = contract('TestToken', await token(owner.address))
    await write(owner, usdc, 'mint', bob.address, 5n)
    await expect(write(alice, usdc, 'mint', alice.address, 1n)).rejects.toThrow('NotMinter')
    await expect(write(alice, usdc, 'setMinter', alice.address, true)).rejects.toThrow('OwnableUnauthorizedAccount')

    await write(owner, usdc, 'setMinter', alice.address, true)
    await write(alice, usdc, 'mint', bob.address, 7n)
    await write(owner, usdc, 'setMinter', alice.address, false)
    await expect(write(alice, usdc, 'mint', alice.address, 1n)).rejects.toThrow('NotMinter')
    expect(await chain.client.readContract({ ...usdc, functionName: 'balanceOf', args: [bob.address] })).toBe(12n)
  })

  test('the owner of markets does what its operator asks, who stands nowhere but in its storage', async () => {
    const ruler = contract('MarketOwner', await deploy('MarketOwner', []))
    const usdc = contract('TestToken', await token(ruler.address))
    const minting = encodeFunctionData({ ...usdc, functionName: 'mint', args: [bob.address, 3n] })
    await expect(write(alice, ruler, 'execute', usdc.address, minting)).rejects.toThrow('NotOperator')

    await chain.client.setStorageAt({ address: ruler.address, index: 0, value: pad(alice.address) })
    await write(alice, ruler, 'execute', usdc.address, minting)
    expect(await chain.client.readContract({ ...usdc, functionName: 'balanceOf', args: [bob.address] })).toBe(3n)
    await expect(write(owner, ruler, 'execute', usdc.address, minting)).rejects.toThrow('NotOperator')
    const refused = encodeFunctionData({ ...usdc, functionName: 'transfer', args: [bob.address, 1n] })
    await expect(write(alice, ruler, 'execute', usdc.address, refused)).rejects.toThrow()
  })
})
