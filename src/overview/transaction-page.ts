import { type Chain, type Chains, ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Hex, Transfer } from '../domain/records.ts'
import { allOf } from '../domain/walk.ts'
import { type HistoryPosition, placesBelow, readTransactions } from './chain-history.ts'
import type { TransactionPage, TransactionSelection } from './contract.ts'
import {
  blockTime,
  readTransactionScene,
  signedTransaction,
  type TransactionParts,
  type TransactionScene,
  transactionRow,
} from './transaction-row.ts'

/**
 * Shows transactions of one chain, newest first. While the chain cannot be reached, those that are signed and not settled are shown, and
 * the reason. Undefined if there is no such chain.
 */
export async function transactionPage(
  parts: TransactionParts,
  { chain_id, before, limit }: TransactionSelection,
): Promise<TransactionPage | undefined> {
  const { chains, store } = parts
  const chain = chain_id === undefined ? chains.all()[0] : chains.get(chain_id)
  if (!chain) return undefined
  const scene = await readTransactionScene(parts)
  const transfers = before === undefined ? await allOf(store, 'transfers', 'all') : []
  const signed = transfers.filter((transfer) => transfer.chain_id === chain.chain_id)
  try {
    return await readPage(chain, { chains, scene, signed, before: positionIn(before), limit })
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error
    return {
      chain_id: chain.chain_id,
      transactions: rowsOfSigned(signed, scene),
      next_before: before ?? null,
      chains: headsOf(chains),
      unavailable: error.reason,
    }
  }
}

interface PageSources {
  chains: Chains
  scene: TransactionScene
  /** Transfers that are not settled. */
  signed: readonly Transfer[]
  before: HistoryPosition | undefined
  limit: number
}

async function readPage(chain: Chain, { chains, scene, signed, before, limit }: PageSources): Promise<TransactionPage> {
  const { chain_id } = chain
  const head = await headOf(chain)
  const waiting = await notMined(chain, signed)
  const span = { first: chain.span?.first ?? head.last, last: head.last }
  const { places, next } = await placesBelow(chain, span, before, limit)
  const read = await readTransactions(
    chain,
    places.map(({ hash }) => hash),
  )
  const mined = places.map((place, i) => {
    const { transaction, receipt } = read[i] ?? {}
    return transactionRow({ ...place, chain_id, transaction, receipt }, scene)
  })
  return {
    chain_id,
    transactions: [...rowsOfSigned(waiting, scene), ...mined],
    next_before: next ? positionText(next) : null,
    chains: headsOf(chains, { chain_id, ...head }),
    unavailable: null,
  }
}

function rowsOfSigned(transfers: readonly Transfer[], scene: TransactionScene): TransactionPage['transactions'] {
  return transfers.map((transfer) => transactionRow(signedTransaction(transfer, scene), scene)).reverse()
}

/** Reads the last block, without having one mined. */
async function headOf(chain: Chain): Promise<{ last: number; timestamp: number }> {
  const [block] = await chain.ask([['eth_getBlockByNumber', 'latest', false]])
  const { number, timestamp } = Object(block) as { number?: Hex; timestamp?: Hex }
  if (number === undefined) throw new ChainUnavailableError(chain.chain_id, 'it does not show its last block')
  return { last: Number(number), timestamp: Number(timestamp) }
}

/** Transfers without a receipt. The others stand in blocks, and wait to be settled. */
async function notMined(chain: Chain, transfers: readonly Transfer[]): Promise<Transfer[]> {
  const hashes = transfers.map(({ tx_hash }) => tx_hash)
  const read = await readTransactions(chain, hashes)
  return transfers.filter((_, i) => read[i]?.receipt === undefined)
}

function headsOf(
  chains: Chains,
  known?: { chain_id: string; last: number; timestamp: number },
): TransactionPage['chains'] {
  return chains.all().flatMap(({ chain_id, span }) => {
    const head = known?.chain_id === chain_id ? known : span
    return head ? [{ chain_id, block_number: head.last, at: blockTime(head.timestamp) }] : []
  })
}

function positionIn(before: string | undefined): HistoryPosition | undefined {
  if (before === undefined) return undefined
  const [block, index] = before.split('.')
  return { block: Number(block), ...(index !== undefined && { index: Number(index) }) }
}

function positionText({ block, index }: HistoryPosition): string {
  return index === undefined ? String(block) : `${block}.${index}`
}
