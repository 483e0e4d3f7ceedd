import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Ledger } from '../oracle/ledger.ts'
import type { Ending } from '../oracle/outcome.ts'
import type { Forgotten } from '../traffic/exchange-log.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'

/**
 * What requests to the control interface have taken away since the namespace was made: a count each, which no reset sets back. Only those
 * that came over the network count, as of a command that does it to its own sandbox; what this process asks of itself does not.
 */
export interface TakenAway {
  /** Requests to take faults away or to stop a scenario, whether anything was in force or not. */
  clearings: number
  /** Resets. */
  resets: number
  /** Rules that these took away while they could still strike. */
  faults: number
}

/** What findings are drawn from. */
export interface Evidence {
  /** Oldest first, in the order in which they arrived. Those that a configuration cause explains are left out. */
  exchanges: readonly RecordedExchange[]
  /**
   * Writes for which the record had no room, and the first lists that show the transaction of one that had no good answer: older than the
   * first of `exchanges`, oldest first. Their headers are gone but for the key; of a list those transactions are left.
   */
  kept: readonly RecordedExchange[]
  /** Of the service's operations; what is among `kept` does not count. */
  forgotten: Forgotten
  taken_away: TakenAway
  ledger: Ledger
  /** Real time of the last JSON-RPC request to a chain of the namespace since its last reset, milliseconds since the Unix epoch; null for none. */
  rpc_at: number | null
  /** Whether the client has ended: what it has not done yet, it will not do any more. */
  ended: boolean
  /** How the command ended that it was part of; null where nobody knows. */
  end: Ending | null
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}
