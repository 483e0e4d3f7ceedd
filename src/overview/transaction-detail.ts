import { type Chain, ChainUnavailableError } from '../domain/ports/chain.ts'
import type { ChainTransaction } from '../domain/ports/chain-words.ts'
import type { Hex } from '../domain/records.ts'
import { allOf } from '../domain/walk.ts'
import { readTransactions, timeOfBlock } from './chain-history.ts'
import type { TransactionDetail } from './contract.ts'
import { revertReason } from './revert-reason.ts'
import {
  readTransactionScene,
  type ShownTransaction,
  signedTransaction,
  type TransactionParts,
  type TransactionScene,
  transactionRow,
} from './transaction-row.ts'

/** Most characters of a transaction's input that are shown. */
const INPUT_SHOWN = 64 * 1024

type KnownTransaction = ShownTransaction & { transaction: ChainTransaction }

/**
 * Shows one transaction of any chain; undefined if no chain has it. Throws ChainUnavailableError if a chain that may have it cannot be
 * reached.
 */
export async function transactionDetail(
  parts: TransactionParts,
  wanted: string,
): Promise<TransactionDetail | undefined> {
  const { chains, store, words } = parts
  const hash = wanted.toLowerCase() as Hex
  const scene = await readTransactionScene(parts)
  const signed = (await allOf(store, 'transfers', 'all')).find(({ tx_hash }) => tx_hash === hash)
  // A chain whose archive has it is asked first, so that no other one is woken.
  const isArchived = (chain: Chain) => Number(chain.outcome(hash) !== undefined)
  const candidates = chains.all().sort((a, b) => isArchived(b) - isArchived(a))
  let outage: ChainUnavailableError | undefined
  for (const chain of candidates) {
    if (signed && signed.chain_id !== chain.chain_id) continue
    try {
      const found = await findOn(chain, hash)
      if (!found) continue
      const isReverted = found.receipt && Number(found.receipt.status) !== 1
      return inDetail(found, scene, isReverted ? await revertReason(chain, found, words) : null)
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error
      outage = error
    }
  }
  if (signed) return inDetail(signedTransaction(signed, scene), scene, null)
  if (outage) throw outage
  return undefined
}

async function findOn(chain: Chain, hash: Hex): Promise<KnownTransaction | undefined> {
  const [{ transaction, receipt } = {}] = await readTransactions(chain, [hash])
  if (!transaction) return undefined
  const { chain_id } = chain
  const number = receipt?.blockNumber ?? transaction.blockNumber
  if (number === null) return { chain_id, hash, block_number: null, transaction }
  const block_number = Number(number)
  return { chain_id, hash, block_number, timestamp: await timeOfBlock(chain, block_number), transaction, receipt }
}

function inDetail(shown: KnownTransaction, scene: TransactionScene, revert_reason: string | null): TransactionDetail {
  const { chain_id, transaction, receipt } = shown
  const { from, to, nonce, gas, input } = transaction
  const row = transactionRow(shown, scene)
  const { call, events } = scene.words.describe(transaction, receipt, scene.book.known(chain_id))
  return {
    ...row,
    ...{ from, to, nonce: Number(nonce) },
    gas_used: receipt ? Number(receipt.gasUsed) : null,
    gas_limit: Number(gas),
    call,
    input: input.slice(0, INPUT_SHOWN),
    revert_reason,
    events,
    request_ids: scene.numbers.requestsOf(row.operation_number),
  }
}
