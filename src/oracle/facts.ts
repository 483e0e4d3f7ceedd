import type { Forgotten } from '../traffic/kept-exchanges.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { CommandEnding, OperationType } from './outcome.ts'

/** All that the oracle knows of a client and its money. */
export interface Facts {
  /** Oldest first, in the order in which they arrived. */
  exchanges: readonly RecordedExchange[]
  /**
   * Writes for which the record had no room, and the first lists that show the transaction of one that had no good answer: older than the
   * first of `exchanges`, oldest first. Their headers are gone but for the key; of a list those transactions are left.
   */
  kept: readonly RecordedExchange[]
  /** Of the service's operations; what is among `kept` does not count. */
  forgotten: Forgotten
  ledger: Ledger
  /** Real time of the last JSON-RPC request to a chain of the namespace, milliseconds since the Unix epoch; null for none. */
  rpc_at: number | null
  /** True if the client has ended: what it has not done yet, it will not do any more. */
  ended: boolean
  /** How the command ended that it was part of; null where nobody knows. */
  end: CommandEnding | null
}

/** The list that shows what became of an operation. */
export type ListOperation = 'list_transactions' | 'list_portfolios'

/** Equal operations: of one end user, in one pool, of one amount. */
export interface Made {
  /** As `whoIs` names the end user. */
  who: string
  type: OperationType
  pool_id: string | null
  /** Minor units; null for a portfolio, and where amounts differ from run to run. */
  amount_minor: string | null
}

/** Another run of the same command in which nothing went wrong: what `explore` has, and `exec` has not. */
export interface Sibling {
  /** Names an end user alike in all runs; those whose names change from run to run have one name together. */
  whoIs(tenant: string | null, externalId: string | null): string
  /** How many answered lists of an end user it asked for. */
  lists(operation: ListOperation, who: string): number
  /** What it carried out, and how often. */
  made: readonly (Made & { count: number })[]
  /** True if amounts are the same in every run. */
  amounts: boolean
  /** True if a key came again after its answer. */
  key_again: boolean
}

/** A transfer that a request asked for, as the ledger has it. */
export interface LedgerTransfer {
  transaction_id: string
  type: 'deposit' | 'withdraw'
  /** Slug. */
  tenant: string
  external_id: string
  /** The Idempotency-Key that it was asked for with, in lower case where case makes no difference. */
  key: string
  portfolio_id: string
  /** Minor units, a digit string. */
  amount_minor: string
  tx_hash: string
}

/** A portfolio, whoever made it. */
export interface LedgerPortfolio {
  tenant: string
  external_id: string
  portfolio_id: string
  pool_id: string
  token_symbol: string
  token_decimals: number
  /** The Idempotency-Key that it was made with; null when the fixture made it, or the key is not kept any more. */
  key: string | null
}

/** What requests have moved and made, by the ledger's word; transfers of the fixture are left out. */
export interface Ledger {
  /** Settled; oldest first. */
  transfers: readonly LedgerTransfer[]
  /** Signed, and not settled. */
  under_way: readonly LedgerTransfer[]
  portfolios: readonly LedgerPortfolio[]
}
