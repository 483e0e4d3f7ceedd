const READS: readonly RegExp[] = [
  /^(net|web3|trace|txpool|ots|erigon)_/,
  /^debug_(code|db|get|trace)/,
  /^eth_(get|new|uninstall|subscribe$|unsubscribe$|submit|sign|fillTransaction$|request)/,
  /^eth_(accounts|baseFee|blobBaseFee|blockNumber|call|callMany|chainId|coinbase|config|createAccessList|estimateGas)$/,
  /^eth_(feeHistory|gasPrice|hashrate|maxPriorityFeePerGas|mining|networkId|protocolVersion|simulateV1|syncing)$/,
  /^(anvil|hardhat)_(dumpState|getAutomine|getBlobs?By\w+|getGenesisTime|getIntervalMining|metadata|nodeInfo)$/,
  /^(personal_sign|rpc_modules)$/,
]

/** @returns true if a method changes nothing; false for methods that are not listed */
export function isRead(method: string): boolean {
  return READS.some((pattern) => pattern.test(method))
}

/** Reads that execute code or search. */
const SLOW: readonly RegExp[] = [
  /^eth_(call|estimateGas|createAccessList|simulateV1|getProof|getStorageValues)$/,
  /^eth_get(Logs|FilterLogs)$/,
  /^(debug_trace|trace|ots)/,
  /^(anvil|hardhat)_dumpState$/,
]

/** @returns true if a read may occupy the node for long. Each read of the pending block executes the whole pool. */
export function isSlow(method: string, params: readonly unknown[]): boolean {
  return SLOW.some((pattern) => pattern.test(method)) || /"pending"/i.test(JSON.stringify(params))
}

/** @returns true if the answer to a read may be long, come from the archive, or belong to a filter */
export function isLong(method: string): boolean {
  return /^(eth_(get(Block|Code|FilterChanges|RawTransaction|Transaction[BR])|new|uninstall)|txpool_[ci]|erigon_|debug_)/.test(
    method,
  )
}

/** Changes that a checkpoint keeps completely. */
const KEPT =
  /^(eth_send|evm_mine$|(anvil|hardhat|tenderly)_(mine$|set(Balance|Code|Nonce|StorageAt|ERC20Allowance)|addBalance|deal|drop))/

/** @returns true if a method leaves something in the node that a checkpoint does not keep: a snapshot, a filter, a setting, a time */
export function staysInNode(method: string): boolean {
  return isRead(method) ? /^eth_new/.test(method) : !KEPT.test(method)
}

/** @returns true if a method mines blocks */
export function isMine(method: string): boolean {
  return /^(evm|anvil|hardhat)_mine(_detailed)?$/.test(method)
}

/** @returns true if a method sets the time of the node's next block */
export function setsTime(method: string): boolean {
  return /^(evm|anvil|hardhat)_(increaseTime|setTime|setNextBlockTimestamp)$/.test(method)
}

/** @returns true if a method's numbers must fit into 64 bits: Anvil accepts larger ones, and crashes */
export function takesSmallNumbers(method: string): boolean {
  return isMine(method) || setsTime(method)
}

/**
 * Reads the parameters of a call that mines.
 * @returns the number of blocks (NaN if it is not a number); `timed`: true if the call also sets a time or other details
 */
export function miningOf(method: string, params: readonly unknown[]): { blocks: number; timed: boolean } {
  const [first, second] = params
  if (/^(anvil|hardhat)_mine$/.test(method)) return { blocks: countOf(first), timed: countOf(second ?? 0) !== 0 }
  const detailed = method.endsWith('_detailed')
  if (typeof first !== 'object' || first === null) return { blocks: 1, timed: detailed || (first ?? null) !== null }
  if (Array.isArray(first)) return { blocks: Number.NaN, timed: true }
  return { blocks: countOf('blocks' in first ? first.blocks : undefined), timed: true }
}

/** Reads a count; 1 by default. */
function countOf(count: unknown): number {
  if (count === undefined || count === null) return 1
  return typeof count === 'number' || (typeof count === 'string' && count !== '') ? Number(count) : Number.NaN
}

/** Methods of Anvil that are refused, each with an alternative or a reason. */
const REFUSED: readonly (readonly [method: RegExp, instead: string])[] = [
  [
    /^(evm|anvil|hardhat)_set(Automine|IntervalMining)$/,
    'the sandbox mines: what is sent stands in a block within half a second, and evm_mine mines at once',
  ],
  [/^(anvil|hardhat)_reset$/, 'POST /_sandbox/reset takes the ledger back together with the chain'],
  [
    /^(anvil|hardhat)_(rollback|reorg)$/,
    'blocks that the ledger knows are not taken back; the fault "reorg" replaces the last one',
  ],
  [
    /^(anvil|hardhat)_loadState$/,
    'the chain is kept as what was done to it; anvil_setBalance, anvil_setCode and anvil_setStorageAt change accounts',
  ],
  [
    /^(evm|anvil|hardhat)_(setCoinbase|setChainId|setRpcUrl|setBlockGasLimit|setNextBlockBaseFeePerGas|setMinGasPrice|setPrevRandao|setBlockTimestampInterval|removeBlockTimestampInterval|setLoggingEnabled|enableTraces)$/,
    'every block can be made again as it was, which needs one setting for all of them',
  ],
]

/** @returns the reason why a method is refused, or what to use instead; undefined if it is offered */
export function refusalOf(method: string): string | undefined {
  return REFUSED.find(([pattern]) => pattern.test(method))?.[1]
}
