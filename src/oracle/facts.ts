import type { Forgotten } from '../traffic/kept-exchanges.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { CommandEnding, OperationType } from './outcome.ts'

/** Input of the oracle: facts about a client and its money. */
export interface Facts {
  /** Oldest first, in the order in which they arrived. */
  exchanges: readonly RecordedExchange[]
  /**
   * Writes for which the record had no room, and the first lists that show the transaction of a write without a good answer: older than
   * the first of `exchanges`, oldest first. They have lost their headers except for the key, and a list all its other transactions.
   */
  kept: readonly RecordedExchange[]
  /** Counts of forgotten exchanges of the service's operations; those in `kept` do not count. */
  forgotten: Forgotten
  /**
   * ISO 8601 moment at which this process took the namespace over from another one, if the record begins there: it has nothing of what
   * was asked before.
   */
  taken_over?: string | undefined
  ledger: Ledger
  /** Real time of the last JSON-RPC request to a chain of the namespace, milliseconds since the Unix epoch; null for none. */
  rpc_at: number | null
  /** True if the client has ended: open work will not be done any more. */
  ended: boolean
  /** How the command that the client is part of ended; null where nobody knows. */
  end: CommandEnding | null
}

/** The list that shows the result of an operation. */
export type ListOperation = 'list_transactions' | 'list_portfolios'

/** A kind of equal operations: of one end user, in one pool, of one amount. */
export interface Made {
  /** Name of the end user by `whoIs`. */
  who: string
  type: OperationType
  pool_id: string | null
  /** Minor units; null for a portfolio, and where amounts differ from run to run. */
  amount_minor: string | null
}

/** Another run of the same command in which nothing went wrong; `explore` has one, `exec` does not. */
export interface Sibling {
  /** Names an end user in the same way in all runs; end users whose names change from run to run share one name. */
  whoIs(tenant: string | null, externalId: string | null): string
  /** Number of answered lists of an end user that the run asked for. */
  lists(operation: ListOperation, who: string): number
  /** Operations that were carried out, and how often. */
  made: readonly (Made & { count: number })[]
  /** True if amounts are the same in every run. */
  amounts: boolean
  /** True if a key came again after its answer. */
  key_again: boolean
}

/** A transfer that a request asked for, from the ledger. */
export interface LedgerTransfer {
  transaction_id: string
  type: 'deposit' | 'withdraw'
  /** Slug. */
  tenant: string
  external_id: string
  /** The Idempotency-Key of its request, in lower case where case makes no difference. */
  key: string
  portfolio_id: string
  /** Minor units, a digit string. */
  amount_minor: string
  tx_hash: string
}

/** A portfolio of the ledger, made by a request or by the fixture. */
export interface LedgerPortfolio {
  tenant: string
  external_id: string
  portfolio_id: string
  pool_id: string
  token_symbol: string
  token_decimals: number
  /** The Idempotency-Key of its request; null when the fixture made it, or the key is not kept any more. */
  key: string | null
}

/** The ledger's transfers and portfolios; transfers of the fixture are left out. */
export interface Ledger {
  /** Settled; oldest first. */
  transfers: readonly LedgerTransfer[]
  /** Signed, but not settled. */
  under_way: readonly LedgerTransfer[]
  portfolios: readonly LedgerPortfolio[]
}
