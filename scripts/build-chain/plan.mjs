// A list of transactions that is complete, addresses included, before the first of them is sent.
import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'

/** @typedef {{ abi: any[], bytecode?: `0x${string}`, address?: `0x${string}` }} Contract */

export class Plan {
  /** @type {{ label: string, from: import('viem/accounts').HDAccount, nonce: number, to?: `0x${string}`, data: `0x${string}` }[]} */
  transactions = []
  #nonces = new Map()

  /**
   * Adds a deployment.
   * @param {import('viem/accounts').HDAccount} from
   * @param {string} label
   * @param {{ abi: any[], bytecode: `0x${string}` }} contract
   * @param {unknown[]} args
   * @returns {{ abi: any[], address: `0x${string}` }} the contract at the address it will have
   */
  deploy(from, label, { abi, bytecode }, args = []) {
    const nonce = this.#nextNonce(from)
    this.transactions.push({ label: `deploy ${label}`, from, nonce, data: encodeDeployData({ abi, bytecode, args }) })
    return { abi, address: getContractAddress({ from: from.address, nonce: BigInt(nonce) }) }
  }

  /**
   * Adds a call.
   * @param {import('viem/accounts').HDAccount} from
   * @param {{ abi: any[], address: `0x${string}` }} contract
   * @param {string} functionName
   * @param {unknown[]} args
   */
  call(from, { abi, address }, functionName, args) {
    const data = encodeFunctionData({ abi, functionName, args })
    this.transactions.push({ label: functionName, from, nonce: this.#nextNonce(from), to: address, data })
  }

  #nextNonce({ address }) {
    const nonce = this.#nonces.get(address) ?? 0
    this.#nonces.set(address, nonce + 1)
    return nonce
  }
}

const GAS_PER_TRANSACTION = 20_000_000n

/**
 * Signs every transaction, sends them, mines them into one block and checks each receipt.
 * @param {Plan} plan
 * @param {{ request: (method: string, params?: unknown[]) => Promise<any> }} anvil without mining of its own
 * @param {{ chainId: number, timestamp: number }} block
 */
export async function execute(plan, anvil, { chainId, timestamp }) {
  const signed = await Promise.all(
    plan.transactions.map(({ from, nonce, to, data }) =>
      from.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to,
        data,
        gas: GAS_PER_TRANSACTION,
        maxFeePerGas: 0n,
        maxPriorityFeePerGas: 0n,
      }),
    ),
  )
  const hashes = []
  for (const bytes of signed) hashes.push(await anvil.request('eth_sendRawTransaction', [bytes]))
  await anvil.request('evm_setNextBlockTimestamp', [timestamp])
  await anvil.request('evm_mine')
  const receipts = await anvil.request('eth_getBlockReceipts', ['latest'])
  const mined = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt.status]))
  for (const [index, { label }] of plan.transactions.entries()) {
    const status = mined.get(hashes[index])
    if (status !== '0x1') throw new Error(`${label}: ${status ? 'reverted' : 'was not mined'}`)
  }
}
