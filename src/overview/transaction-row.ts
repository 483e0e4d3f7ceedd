import type { Chains } from '../domain/ports/chain.ts'
import type { ChainReceipt, ChainTransaction, ChainWords } from '../domain/ports/chain-words.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Address, Hex, Transfer } from '../domain/records.ts'
import type { TransactionRow } from './contract.ts'
import type { OperationNumbers } from './join-operations.ts'
import { type AddressBook, readAddressBook } from './known-addresses.ts'

/** Dependencies of the transactions in words. */
export interface TransactionParts {
  store: Store
  chains: Chains
  /** Of the operations on record. */
  numbers: OperationNumbers
  words: ChainWords
}

/** All that is known of transactions beside the chain. */
export interface TransactionScene {
  book: AddressBook
  numbers: OperationNumbers
  words: ChainWords
}

/** Reads what transactions are shown with: names of addresses, and numbers of operations. */
export async function readTransactionScene({ store, numbers, words }: TransactionParts): Promise<TransactionScene> {
  return { book: await readAddressBook(store), numbers, words }
}

/** A transaction as it was read. Without a block it is pending. */
export interface ShownTransaction {
  chain_id: string
  hash: Hex
  /** Null while it is pending. */
  block_number: number | null
  /** Time of its block in Unix seconds; undefined if it is not known. */
  timestamp?: number | undefined
  /** Undefined if it is too long to be read. */
  transaction: ChainTransaction | undefined
  receipt?: ChainReceipt | undefined
}

/** Shows a transaction as a row. */
export function transactionRow(
  { chain_id, hash, block_number, timestamp, transaction, receipt }: ShownTransaction,
  { book, numbers, words }: TransactionScene,
): TransactionRow {
  const holder = transaction && book.holder(transaction.from)
  const mined = receipt && Number(receipt.status) !== 1 ? 'reverted' : 'success'
  return {
    chain_id,
    tx_hash: hash,
    sentence: transaction
      ? words.describe(transaction, receipt, book.known(chain_id)).sentence
      : 'This transaction is too long to be read.',
    status: block_number === null ? 'pending' : mined,
    block_number,
    at: timestamp === undefined ? null : blockTime(timestamp),
    operation_number: numbers.ofTransaction(hash),
    tenant: holder?.tenant ?? null,
    external_id: holder?.external_id ?? null,
  }
}

/** Address that stands for an unknown sender. */
const NOBODY = `0x${'0'.repeat(40)}` as const

/** A transfer that was signed, as a transaction that is pending. */
export function signedTransaction(
  { chain_id, tx_hash, raw_transaction, end_user_id }: Transfer,
  { book, words }: TransactionScene,
): ShownTransaction & { transaction: ChainTransaction } {
  const sender = (book.walletOf(end_user_id) ?? NOBODY).toLowerCase() as Address
  const transaction = words.parse(raw_transaction, sender, tx_hash)
  return { chain_id, hash: tx_hash, block_number: null, transaction }
}

/** ISO 8601 UTC of Unix seconds; the last moment that has one if it is later. */
export function blockTime(seconds: number): string {
  return new Date(Math.min(seconds * 1000, LAST_MOMENT)).toISOString()
}

const LAST_MOMENT = 8.64e15
