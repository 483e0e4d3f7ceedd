// A list of transactions that is complete, addresses included, before the first of them is sent.
import { encodeDeployData, encodeFunctionData, getContractAddress, numberToHex } from 'viem'

/** @typedef {{ abi: any[], bytecode?: `0x${string}`, address?: `0x${string}` }} Contract */

/** Signs what it sends if it has a key; Anvil sends for it otherwise. */
/** @typedef {{ address: `0x${string}`, signTransaction?: import('viem/accounts').HDAccount['signTransaction'] }} Account */

export class Plan {
  /** @type {{ label: string, from: Account, nonce: number, to?: `0x${string}`, data: `0x${string}` }[]} */
  transactions = []
  #nonces = new Map()

  /**
   * Adds a deployment.
   * @param {Account} from
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
   * @param {Account} from
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
 * Signs the transactions of whoever has a key, sends all, mines them into one block and checks each receipt.
 * @param {Plan} plan
 * @param {{ request: (method: string, params?: unknown[]) => Promise<any> }} anvil without mining of its own
 * @param {{ chainId: number, timestamp: number }} block
 */
export async function execute(plan, anvil, { chainId, timestamp }) {
  const calls = await Promise.all(plan.transactions.map((transaction) => sending(transaction, chainId)))
  await anvil.request('anvil_autoImpersonateAccount', [true])
  const hashes = []
  for (const [method, transaction] of calls) hashes.push(await anvil.request(method, [transaction]))
  await anvil.request('evm_setNextBlockTimestamp', [timestamp])
  await anvil.request('evm_mine')
  const receipts = await anvil.request('eth_getBlockReceipts', ['latest'])
  const mined = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt.status]))
  for (const [index, { label }] of plan.transactions.entries()) {
    const status = mined.get(hashes[index])
    if (status !== '0x1') throw new Error(`${label}: ${status ? 'reverted' : 'was not mined'}`)
  }
}

/** The call that sends a transaction. */
async function sending({ from, nonce, to, data }, chainId) {
  if (from.signTransaction) {
    const terms = { type: 'eip1559', chainId, gas: GAS_PER_TRANSACTION, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    return ['eth_sendRawTransaction', await from.signTransaction({ ...terms, nonce, to, data })]
  }
  const terms = { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0', gas: numberToHex(GAS_PER_TRANSACTION) }
  return ['eth_sendTransaction', { ...terms, from: from.address, nonce: numberToHex(nonce), to, data }]
}
