import type { RpcTransaction, TransactionSerializable } from 'viem'
import { formatTransaction, serializeTransaction } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { type ArchivedBlock, type LogFilter, matchesLog } from './archived-block.ts'

type OfTransaction = (block: ArchivedBlock, index: number) => unknown
type OfBlock = (block: ArchivedBlock, detail: unknown, subject: unknown) => unknown

const block: OfBlock = ({ block }, full) =>
  full === true ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) }

const transactionCount: OfBlock = ({ block }) => `0x${block.transactions.length.toString(16)}`

const transactionAt: OfBlock = ({ block }, index) => block.transactions[placeOf(index)] ?? null

const rawTransactionAt: OfBlock = ({ block }, index) => {
  const transaction = block.transactions[placeOf(index)]
  return transaction ? rawTransaction(transaction) : null
}

/** NaN for what is no number in any notation: some of it cannot even be converted. */
function placeOf(index: unknown): number {
  return typeof index === 'number' || typeof index === 'string' ? Number(index) : Number.NaN
}

/** What methods answer whose first parameter is a transaction's hash. */
export const answerOfTransaction: ReadonlyMap<string, OfTransaction> = new Map<string, OfTransaction>([
  ['eth_getTransactionReceipt', ({ receipts }, index) => receipts[index]],
  ['eth_getTransactionByHash', ({ block }, index) => block.transactions[index]],
  ['eth_getRawTransactionByHash', (archived, index) => rawTransactionAt(archived, index, undefined)],
])

/** What methods answer whose first parameter is a block's number or hash, or a filter with one. */
export const answerOfBlock: ReadonlyMap<string, OfBlock> = new Map<string, OfBlock>([
  ['eth_getBlockByNumber', block],
  ['eth_getBlockByHash', block],
  ['eth_getBlockReceipts', ({ receipts }) => receipts],
  ['eth_getBlockTransactionCountByNumber', transactionCount],
  ['eth_getBlockTransactionCountByHash', transactionCount],
  ['eth_getTransactionByBlockNumberAndIndex', transactionAt],
  ['eth_getTransactionByBlockHashAndIndex', transactionAt],
  ['eth_getRawTransactionByBlockNumberAndIndex', rawTransactionAt],
  ['eth_getRawTransactionByBlockHashAndIndex', rawTransactionAt],
  [
    'eth_getLogs',
    ({ receipts }, _, filter) =>
      receipts.flatMap(({ logs }) => logs.filter((log) => matchesLog(filter as LogFilter, log))),
  ],
])

/** The signed bytes of a transaction, from what `eth_getTransactionByHash` says of it. */
export function rawTransaction(transaction: object): Hex {
  const formatted = formatTransaction(transaction as RpcTransaction)
  const { r, s, v, yParity, input, to, ...fields } = formatted
  const unsigned = { ...fields, to, data: input } as TransactionSerializable
  return serializeTransaction(unsigned, { r, s, v, ...(yParity !== undefined && { yParity }) } as never)
}
