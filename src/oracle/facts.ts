import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { Ledger } from './ledger.ts'
import type { Ending } from './outcome.ts'

/** Exchanges that were recorded and are not there any more, and why: a count each. */
export interface Forgotten {
  /** The record had no room for them. */
  room: number
  /** Somebody deleted them. */
  deleted: number
  /** A reset took them away. */
  reset: number
}

/** All that the oracle knows of a client and its money. */
export interface Facts {
  /** Oldest first, in the order in which they arrived. */
  exchanges: readonly RecordedExchange[]
  /** Writes, and lists of transactions that show one, for which the record had no room: older than the first of `exchanges`. */
  kept: readonly RecordedExchange[]
  forgotten: Forgotten
  ledger: Ledger
  /** Real time of the last JSON-RPC request to a chain of the namespace, milliseconds since the Unix epoch; null for none. */
  rpc_at: number | null
  /** Whether the client has ended: what it has not done yet, it will not do any more. */
  ended: boolean
  /** How the command ended that it was part of; null where nobody knows. */
  end: Ending | null
}

/** What another run of the same command did when nothing went wrong: what `explore` has, and `exec` has not. */
export interface Sibling {
  /** Names an end user alike in both runs; undefined for one whom only this run has. */
  whoIs(tenant: string | null, externalId: string): string | undefined
  /** How many lists of this operation it asked for, by the end user's name. */
  lists(operation: 'list_transactions' | 'list_portfolios', who: string): number
  /** How many transfers it made, or portfolios. */
  made(what: Made): number
  /** Whether a key came again after its answer, or two equal operations were in flight at once. */
  has: { key_again: boolean; equal_at_once: boolean }
}

/** Equal operations: of one end user, in one pool, of one amount. */
export interface Made {
  who: string
  type: string
  pool_id: string | null
  amount_minor: string | null
}
