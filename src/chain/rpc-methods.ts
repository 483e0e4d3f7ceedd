const READS: readonly RegExp[] = [
  /^(net|web3|trace|txpool|ots|erigon)_/,
  /^debug_(code|db|get|trace)/,
  /^eth_(get|new|uninstall|subscribe$|unsubscribe$|submit|sign|fillTransaction$|request)/,
  /^eth_(accounts|baseFee|blobBaseFee|blockNumber|call|callMany|chainId|coinbase|config|createAccessList|estimateGas)$/,
  /^eth_(feeHistory|gasPrice|hashrate|maxPriorityFeePerGas|mining|networkId|protocolVersion|simulateV1|syncing)$/,
  /^(anvil|hardhat)_(dumpState|getAutomine|getBlobs?By\w+|getGenesisTime|getIntervalMining|metadata|nodeInfo)$/,
  /^(personal_sign|rpc_modules)$/,
]

/** Whether a method changes nothing. What is not known to is taken to change something. */
export function isRead(method: string): boolean {
  return READS.some((pattern) => pattern.test(method))
}

/** Changes of which a checkpoint keeps all. */
const KEPT =
  /^(eth_send|evm_mine$|(anvil|hardhat|tenderly)_(mine$|set(Balance|Code|Nonce|StorageAt|ERC20Allowance)|addBalance|deal|drop))/

/** Whether a method leaves something in the node that no checkpoint keeps: a snapshot, a filter, a setting, a time. */
export function staysInNode(method: string): boolean {
  return isRead(method) ? /^eth_new/.test(method) : !KEPT.test(method)
}

/** Whether a method mines, if its parameters say no more than how often. */
export function isMine(method: string): boolean {
  return /^(evm|anvil|hardhat)_mine$/.test(method)
}

/** Whether a method says when the node's next block is. */
export function setsTime(method: string): boolean {
  return /^(evm|anvil|hardhat)_(increaseTime|setTime|setNextBlockTimestamp)$/.test(method)
}

/** How many blocks a call that mines asks for; undefined if it has a say in their time as well. */
export function blocksToMine(method: string, params: readonly unknown[]): number | undefined {
  const [first, interval] = params
  if (method === 'evm_mine') return first === undefined || first === null ? 1 : undefined
  if (interval !== undefined && interval !== null && Number(interval) !== 0) return undefined
  return first === undefined || first === null ? 1 : Number(first)
}
