import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Ledger } from '../oracle/ledger.ts'
import type { Ending } from '../oracle/outcome.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'

/** Exchanges that were recorded and are not there any more, and why: a count each. */
export interface Forgotten {
  /** The record had no room for them. */
  room: number
  /** Somebody deleted them. */
  deleted: number
  /** A reset took them away. */
  reset: number
}

/** What findings are drawn from. */
export interface Evidence {
  /** Oldest first, in the order in which they arrived. Those that a configuration cause explains are left out. */
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
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}
