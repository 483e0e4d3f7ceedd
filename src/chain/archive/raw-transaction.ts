import type { RpcTransaction, TransactionSerializable } from 'viem'
import { formatTransaction, serializeTransaction } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'

/** The signed bytes of a transaction, from what `eth_getTransactionByHash` says of it. */
export function rawTransaction(transaction: object): Hex {
  const formatted = formatTransaction(transaction as RpcTransaction)
  const { r, s, v, yParity, input, to, ...fields } = formatted
  const unsigned = { ...fields, to, data: input } as TransactionSerializable
  return serializeTransaction(unsigned, { r, s, v, ...(yParity !== undefined && { yParity }) } as never)
}
