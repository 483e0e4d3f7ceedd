import { fromRlp, numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import type { ArchivedReceipt, ArchivedTransaction } from './archived-block.ts'

/** The type of transactions with a priority fee (EIP-1559), as signed bytes begin with it. */
const EIP1559 = '0x02'

/** @returns true if {@link rebuiltTransaction} knows this type of signed transaction. */
export function isRebuildable(raw: Hex): boolean {
  return raw.startsWith(EIP1559)
}

/**
 * What Anvil says of a mined transaction (`eth_getTransactionByHash`), from its signed bytes and its receipt. Anvil would
 * find the sender by its signature again: four times the work of all else that is asked of a block.
 */
export function rebuiltTransaction(raw: Hex, receipt: ArchivedReceipt, blockTimestamp: Hex): ArchivedTransaction {
  const [chainId, nonce, tip, fee, gas, to, value, input, accessList, yParity, r, s] = fromRlp(
    `0x${raw.slice(EIP1559.length)}`,
  ) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex, Hex, [Hex, Hex[]][], Hex, Hex, Hex]
  const { transactionHash, blockHash, blockNumber, transactionIndex, from, effectiveGasPrice } = receipt
  return {
    type: '0x2',
    chainId: quantity(chainId),
    nonce: quantity(nonce),
    gas: quantity(gas),
    maxFeePerGas: quantity(fee),
    maxPriorityFeePerGas: quantity(tip),
    to: to === '0x' ? null : to,
    value: quantity(value),
    accessList: accessList.map(([address, storageKeys]) => ({ address, storageKeys })),
    input,
    r: quantity(r),
    s: quantity(s),
    yParity: quantity(yParity),
    v: quantity(yParity),
    hash: transactionHash,
    blockHash,
    blockNumber,
    transactionIndex,
    from,
    gasPrice: effectiveGasPrice,
    blockTimestamp,
  }
}

/** A number as JSON-RPC writes it, without leading zeros. */
function quantity(bytes: Hex): Hex {
  return numberToHex(BigInt(bytes === '0x' ? 0 : bytes))
}
