import type { ServiceSettings } from '../domain/service-settings.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'

/** A settled transfer as the ledger has it. */
export interface LedgerTransfer {
  transaction_id: string
  type: 'deposit' | 'withdraw'
  /** Slug. */
  tenant: string
  external_id: string
  portfolio_id: string
  /** Minor units, a digit string. */
  amount_minor: string
  tx_hash: string
}

/** What findings are drawn from. */
export interface Evidence {
  /** Oldest first, in the order in which they arrived. Those that a configuration cause explains are left out. */
  exchanges: readonly RecordedExchange[]
  /** Exchanges that were recorded and forgotten since: the record is bounded. */
  forgotten: number
  /** Settled transfers that requests asked for; those of the fixture are left out. Oldest first. */
  transfers: readonly LedgerTransfer[]
  /** Whether the client has ended: what it has not done yet, it will not do any more. */
  ended: boolean
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}
