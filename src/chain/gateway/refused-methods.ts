/** Methods of Anvil's own that are not offered, and what to use instead. */
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

/** Why a method is not offered; undefined if it is. */
export function refusalOf(method: string): string | undefined {
  return REFUSED.find(([pattern]) => pattern.test(method))?.[1]
}
