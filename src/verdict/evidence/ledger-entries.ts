import type { Evidence } from '../evidence.ts'
import { isTransfer, type Step } from './timelines.ts'

const known = new WeakMap<Evidence, ReadonlySet<string>>()

/** @returns true if the ledger has what one of these attempts asked for: a transaction, or a portfolio. */
export function isCarriedOut(attempts: readonly Step[], evidence: Evidence): boolean {
  const entries = known.get(evidence) ?? entriesOf(evidence)
  known.set(evidence, entries)
  return attempts.some(({ exchange, key }) => {
    const { tenant, external_id, transfer } = exchange
    if (!isTransfer(exchange)) return entries.has(portfolioName(tenant, external_id, key))
    return [transfer?.transaction_id, transfer?.tx_hash].some((name) => typeof name === 'string' && entries.has(name))
  })
}

function entriesOf({ ledger }: Evidence): Set<string> {
  const entries = new Set(ledger.transfers.flatMap(({ transaction_id, tx_hash }) => [transaction_id, tx_hash]))
  for (const { tenant, external_id, key } of ledger.portfolios) {
    if (key !== null) entries.add(portfolioName(tenant, external_id, key))
  }
  return entries
}

function portfolioName(...parts: (string | null)[]): string {
  return JSON.stringify(parts)
}
